import { defineList } from "#catalog/resource.ts"
import { submissionsOf } from "#catalog/submissions.ts"

export const surveySubmissions = defineList({
  table: "survey_submissions",
  description: "Surveys filled in. They never change, and the service does not say when one is removed.",
  source: "B 2.7, B 4.8 GET /surveys/submissions",
  scope: "surveys.readonly",
  ...submissionsOf("survey")
})
