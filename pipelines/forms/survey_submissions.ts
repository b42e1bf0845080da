import { id, ref } from "#catalog/fields.ts"
import { cursorOr, get, location, size, windowEnd, windowStart } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"
import { submissionFields } from "#catalog/shapes.ts"
import type { Strategy } from "#catalog/resource.ts"

// Without dates, the service returns only the last month, so every request has them.
const submissions = (windows: NonNullable<Strategy["windows"]>): Strategy => ({
  request: get("/surveys/submissions", {
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

export const surveySubmissions = defineList({
  table: "survey_submissions",
  description: "Surveys filled in. They never change, and the service does not say when one is removed.",
  source: "B 2.7, B 4.8 GET /surveys/submissions",
  scope: "surveys.readonly",
  full: [submissions({ from: "2000-01-01" })],
  backfill: {
    dateField: "createdAt",
    strategies: [{ ...submissions({ from: "since" }), verifyField: "createdAt" }],
    padding: "1 day"
  },
  changes: { field: "createdAt", events: ["survey"], overlap: "3 days", strategies: [submissions({ from: "since" })] },
  wide: { table: "survey_submission_answers", field: "field", prefix: "answer_" },
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Submission id"),
    surveyId: ref("surveys", "The survey"),
    ...submissionFields("survey")
  }
})
