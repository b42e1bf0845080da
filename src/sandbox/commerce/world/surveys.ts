import type { Collection } from "../../world/collection.ts"
import { addStrays } from "../../world/nasty.ts"
import type { Setting } from "../../world/setting.ts"
import { submissionsOf } from "../../world/submissions.ts"
import { type Owners, seeded, streams } from "./seeded.ts"

/** Surveys (B 2.7) and their submissions, which are like those of forms. */
export const createSurveys = (setting: Setting): Collection =>
  seeded(setting, {
    stream: streams.survey,
    count: 13,
    ids: "plain",
    build: ({ id, index }) => ({
      id,
      locationId: setting.locationId,
      name: `${["How did we do?", "Projet – préférences", "Warranty check", "=Survey"][index % 4]} ${index + 1}`
    })
  })

export const createSurveySubmissions = (setting: Setting, owners: Owners, surveys: Collection): Collection => {
  const kind = { stream: streams.surveySubmission, of: "surveyId", count: owners.share(0.12) } as const
  const submissions = submissionsOf(setting, owners.rows, surveys, kind)
  addStrays(setting, submissions)
  return submissions
}
