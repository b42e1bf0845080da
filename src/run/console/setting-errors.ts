/** The sentences about settings that are missing or wrong. */
import { suggestion } from "../../settings/closest.ts"
import type { SettingProblem, SettingsError } from "../../settings/errors.ts"
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

const nextStep = (problems: ReadonlyArray<SettingProblem>): string => {
  return problems.every(({ _tag }) => _tag === "Missing" || _tag === "NoCredentials")
    ? "Run ./sluice init, or set them and run the same command again; `./sluice demo` needs none."
    : "Correct this and run the same command again. config/example.toml shows every setting."
}

export const problemSentence = (problem: SettingProblem): string => {
  switch (problem._tag) {
    case "FileNotFound":
      return `The settings file ${problem.file} does not exist.`
    case "FileUnreadable":
      return `The settings file ${problem.file} cannot be read: ${problem.cause}.`
    case "InvalidToml":
      return `${problem.place}: this is not valid TOML: ${problem.message}.`
    case "UnknownSetting":
      return `${problem.place}: ${problem.path}: there is no such setting${suggestion(problem.closest)}`
    case "WrongValue":
      return problem.value === undefined
        ? `${problem.place}: ${problem.path} has a wrong value; expected ${problem.expected}.`
        : `${problem.place}: ${problem.path} is ${problem.value}; expected ${problem.expected}.`
    case "Missing": {
      const places = [problem.environment, problem.flag, `${problem.path} in the settings file`].filter(Boolean)
      return `${problem.place === undefined ? "" : `${problem.place}: `}${problem.path} is missing: ${problem.description} Set ${places.join(" or ")}.`
    }
    case "NoCredentials":
      return `There are no credentials: account.token (SLUICE_TOKEN) is missing, and for an OAuth app ${problem.missing.join(", ")} ${problem.missing.length === 1 ? "is" : "are"} missing.`
    case "SecretUnavailable":
      return `${problem.path}: ${problem.reference} cannot be read: ${problem.cause}.`
    case "TargetConflict":
      return `${problem.place}: ${problem.path} is ${problem.value}, and ${problem.other}. Name another one.`
    case "UnknownTable":
      return `${problem.place}: tables: there is no table or family ${problem.table}${suggestion(problem.closest)}`
    case "KeyUnusable":
      return `${problem.path}: ${problem.reference} cannot be used as a key: ${problem.cause}.`
    case "UnknownResource":
      return `${problem.place}: schema.resources.${problem.resource}: there is no such resource${suggestion(problem.closest)}`
    case "UnknownField":
      return `${problem.place}: schema.accepted: ${problem.field} does not name a table and one of its fields, as in contacts.loyaltyTier${suggestion(problem.closest)}`
  }
}
