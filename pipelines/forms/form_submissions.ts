import { id, ref } from "#catalog/fields.ts"
import { cursorOr, get, location, size, windowEnd, windowStart } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { submissionFields } from "#catalog/shapes.ts"
import type { Strategy } from "#catalog/resource.ts"

// Without dates, the service returns only the last month, so every request has them.
const submissions = (windows: NonNullable<Strategy["windows"]>): Strategy => ({
  request: get("/forms/submissions", {
    locationId: location,
    limit: size,
    page: cursorOr(1),
    startAt: windowStart("date"),
    endAt: windowEnd("date")
  }),
  paging: { kind: "pageNumber", first: 1 },
  records: "submissions",
  pageSize: 100,
  total: "meta.total",
  windows
})

export const formSubmissions = defineList({
  table: "form_submissions",
  description: "Forms filled in. They never change, and the service does not say when one is removed.",
  source: "B 2.7, B 4.8 GET /forms/submissions",
  scope: "forms.readonly",
  full: [submissions({ from: "2000-01-01" })],
  backfill: {
    dateField: "createdAt",
    strategies: [{ ...submissions({ from: "since" }), verifyField: "createdAt" }],
    padding: "1 day"
  },
  changes: { field: "createdAt", events: ["form"], overlap: "3 days", strategies: [submissions({ from: "since" })] },
  wide: { table: "form_submission_answers", field: "field", prefix: "answer_" },
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Submission id"),
    formId: ref("forms", "The form"),
    ...submissionFields("form")
  }
})
