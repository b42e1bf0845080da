/** What the service's refusals mean for the person who typed the command. */
import type { BadCredentials, BudgetExhausted, Unavailable, WrongLocation } from "../api/errors.ts"
import { Failure } from "../failure.ts"

type Refusal = BadCredentials | WrongLocation | BudgetExhausted | Unavailable

/** Turns what ends a whole run into one paragraph and the next command. */
export const explained =
  (location: string) =>
  (refusal: Refusal | Failure): Failure => {
    switch (refusal._tag) {
      case "Failure":
        return refusal
      case "BadCredentials":
        return new Failure({
          ends: "credentials",
          message: `The service does not accept the token (${refusal.message}). ${whyByKind[refusal.kind]}`,
          next: `${adviceByKind[refusal.kind]}, then run the same command again; nothing read before is lost.`
        })
      case "WrongLocation":
        return new Failure({
          ends: "credentials",
          message: `The token may not read location ${location} (${refusal.message}), or there is no such location.`,
          next: "Check SLUICE_LOCATION_ID, or use a token of that location."
        })
      case "BudgetExhausted":
        return new Failure({
          ends: "later",
          message: `The service gives no more requests for now: ${refusal.message}.`,
          next: `Run the same command after ${new Date(refusal.resumeAt).toISOString()}.`
        })
      case "Unavailable":
        return new Failure({
          ends: "later",
          message: `The service gave no usable answer: ${refusal.message}.`,
          next: "Run the same command again later."
        })
    }
  }

const whyByKind = {
  private: "A private token stops working about a week after it was rotated.",
  oauth:
    "A refresh token works once, and its successor is in tokens.json: invalid_grant means that this one was used already, by another program or by a run that was killed in that very moment, or that the app was removed."
}
const adviceByKind = {
  private: "Set SLUICE_TOKEN to a valid token",
  oauth: "Authorise the app again and set SLUICE_REFRESH_TOKEN to the refresh token that it gives"
}
