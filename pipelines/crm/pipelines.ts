import { count, boolean, id, enumeration, decimal, rows, text, changed, created } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const pipelines = defineList({
  table: "pipelines",
  description: "Sales pipelines. Deleting one deletes its deals.",
  source: "A 2.6, A 4.4 GET /opportunities/pipelines",
  scope: "opportunities.readonly",
  full: [inOnePage(get("/opportunities/pipelines", { locationId: location }), { records: "pipelines" })],
  fields: {
    id: id("Pipeline id"),
    name: text("Name, unique in the location"),
    showInFunnel: boolean("Shown in the funnel chart"),
    showInPieChart: boolean("Shown in the pie chart"),
    useOpportunityProbability: boolean("Stages carry a chance of winning"),
    colorRenderMode: enumeration(["dot", "bg-tint", "none"], "How stages are coloured"),
    position: text("Sort key among the pipelines; a text, not a number"),
    dateAdded: created("When the pipeline was made"),
    dateUpdated: changed("Last change"),
    stages: rows(
      "pipeline_stages",
      "Stages of each pipeline, in order.",
      {
        id: id("Stage id"),
        name: text("Name, unique in the pipeline"),
        position: count("Place in the pipeline, from 0"),
        showInFunnel: boolean("Shown in the funnel chart"),
        showInPieChart: boolean("Shown in the pie chart"),
        stageWinProbability: decimal("Chance of winning a deal in this stage, 0 to 100")
      },
      ["id"]
    )
  }
})
