import type { Collection } from "../../account/collection.ts"
import { addOrphans } from "../../account/malformed.ts"
import type { AccountContext } from "../../account/context.ts"
import { submissionsOf } from "./seeded-submissions.ts"
import { type Owners, seeded, streams } from "../../account/seeded.ts"

/** Surveys (B 2.7) and their submissions, which have the form of those of forms. */
export const createSurveys = (context: AccountContext): Collection =>
  seeded(context, {
    stream: streams.survey,
    count: 13,
    ids: "plain",
    build: ({ id, index }) => ({
      id,
      locationId: context.locationId,
      name: `${["How did we do?", "Projet – préférences", "Warranty check", "=Survey"][index % 4]} ${index + 1}`
    })
  })

export const createSurveySubmissions = (context: AccountContext, owners: Owners, surveys: Collection): Collection => {
  const kind = { stream: streams.surveySubmission, of: "surveyId", count: owners.share(0.12) } as const
  const submissions = submissionsOf(context, owners.rows, surveys, kind)
  addOrphans(context, submissions)
  return submissions
}
