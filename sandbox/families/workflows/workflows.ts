import { invalid } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { flag, list, record } from "../../http/shape.ts"
import { findContact } from "../contacts/contacts.ts"
import { find } from "../records.ts"

/** Workflows (A 4.7), and enrolling a contact in one (A 4.2). */
export const workflowRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/workflows/",
    scope: "workflows.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List workflows",
    returns: { workflows: list(record("Workflow")) },
    handle: (_, { world: { workflows } }) => pageOf("workflows", listed(workflows, [...workflows.live()]), {})
  },
  {
    method: "POST",
    path: "/contacts/:contactId/workflow/:workflowId",
    scope: "contacts.write",
    summary: "Enroll a contact in a workflow",
    returns: { succeeded: flag },
    handle: ({ params }, service) => {
      const { workflows } = service.world
      const contact = findContact(service, params["contactId"]!)
      const workflow = find(workflows, params["workflowId"], "Workflow")
      // A draft does not run, so a reference to it is not valid.
      if (workflows.data(workflow)["status"] !== "published") throw invalid("The workflow is not published")
      service.deliveries.enroll(workflow, contact)
      return { succeeded: true }
    }
  }
]
