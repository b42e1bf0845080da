import { defineList } from "#catalog/resource.ts"
import { submissionsOf } from "#catalog/submissions.ts"

export const formSubmissions = defineList({
  table: "form_submissions",
  description: "Forms filled in. They never change, and the service does not say when one is removed.",
  source: "B 2.7, B 4.8 GET /forms/submissions",
  scope: "forms.readonly",
  ...submissionsOf("form")
})
