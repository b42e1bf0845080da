/** The sentences about settings that are missing or wrong. */
import { suggestion } from "../../settings/closest.ts"
import { type SettingProblem, type SettingsError, isMissing } from "../../settings/errors.ts"
import type { Explanation } from "../../values/failure.ts"

export const settingsExplanation = ({ problems }: SettingsError): Explanation => {
  const sentences = problems.map(problemSentence)
  return {
    ends: "config",
    message:
      sentences.length === 1
        ? sentences[0]!
        : `${sentences.length} settings are missing or wrong:\n${sentences.map((sentence) => `  ${sentence}`).join("\n")}`,
    next: nextStep(problems)
  }
}

const nextStep = (problems: ReadonlyArray<SettingProblem>): string =>
  problems.every(isMissing)
    ? "Run ./sluice init, or set them and run the same command again; `./sluice demo` needs none."
    : "Correct this and run the same command again. config/example.toml shows every setting."

export const problemSentence = ({ where, what }: SettingProblem): string => {
  switch (what._tag) {
    case "FileNotFound":
      return `The settings file ${where} does not exist.`
    case "FileUnreadable":
      return `The settings file ${where} cannot be read: ${what.cause}.`
    case "InvalidToml":
      return `${where}: this is not valid TOML: ${what.message}.`
    case "UnknownSetting":
      return `${where}: ${what.path}: there is no such setting${suggestion(what.closest)}`
    case "WrongValue":
      return what.value === undefined
        ? `${where}: ${what.path} has a wrong value; expected ${what.expected}.`
        : `${where}: ${what.path} is ${what.value}; expected ${what.expected}.`
    case "Missing": {
      const places = [what.environment, what.flag, `${what.path} in the settings file`].filter(Boolean)
      return `${where === what.path ? "" : `${where}: `}${what.path} is missing: ${what.description} Set ${places.join(" or ")}.`
    }
    case "NoCredentials":
      return `There are no credentials: account.token (SLUICE_TOKEN) is missing, and for an OAuth app ${what.missing.join(", ")} ${what.missing.length === 1 ? "is" : "are"} missing.`
    case "SecretUnavailable":
      return `${where}: ${what.reference} cannot be read: ${what.cause}.`
    case "TargetConflict":
      return `${where}: ${what.path} is ${what.value}, and ${what.other}. Name another one.`
    case "UnknownTable":
      return `${where}: tables: there is no table or family ${what.table}${suggestion(what.closest)}`
    case "KeyUnusable":
      return `${where}: ${what.reference} cannot be used as a key: ${what.cause}.`
    case "UnknownResource":
      return `${where}: schema.resources.${what.resource}: there is no such resource${suggestion(what.closest)}`
    case "UnknownField":
      return `${where}: schema.accepted: ${what.field} does not name a table and one of its fields, as in contacts.loyaltyTier${suggestion(what.closest)}`
  }
}
