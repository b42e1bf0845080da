/** The sentences about settings that are missing or wrong. */
import { suggestion } from "../settings/closest.ts"
import { type SettingProblem, type SettingsError, isMissing } from "../settings/errors.ts"
import type { Denied } from "../output/denied.ts"
import { type Explanation, headingOf } from "../values/failure.ts"

export const settingsExplanation = ({ problems }: SettingsError): Explanation => {
  const [first] = problems
  const sentences = problems.map(problemSentence)
  return {
    ends: "config",
    message:
      sentences.length === 1
        ? sentences.join("")
        : `${sentences.length} settings are missing or wrong:\n${sentences.map((sentence) => `  ${sentence}`).join("\n")}`,
    next: nextStep(problems),
    ...(first && { about: headingOf(first.what._tag) })
  }
}

/** `folder`: what this user has to own, to work. */
export const deniedExplanation = ({ owner, path, user }: Denied, operation: string, folder = path): Explanation => ({
  ends: "config",
  message: `${path} belongs to ${owner}, and ${user} may not ${operation} it.`,
  next: `Run the command as ${owner} (sudo -u ${owner} …), or give the folder to ${user}: sudo chown -R ${user} '${folder}'`
})

const nextStep = (problems: ReadonlyArray<SettingProblem>): string => {
  const denied = problems.flatMap(({ what }) => (what._tag === "FolderDenied" ? [what] : []))[0]
  if (denied) return deniedExplanation(denied.denied, "read", denied.folder).next
  const isOfAccount = problems.every(
    (one) => isMissing(one) && (one.what._tag !== "Missing" || one.what.path.startsWith("account."))
  )
  return isOfAccount
    ? "Run ./sluice init, or set them and run the same command again; `./sluice demo` needs none."
    : problems.every(isMissing)
      ? "Set this and run the same command again. config/example.toml shows every setting."
      : "Correct this and run the same command again. config/example.toml shows every setting."
}

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
    case "SecretUnusable":
      return `${where}: ${what.reference} cannot be used: ${what.cause}.`
    case "FolderDenied":
      return deniedExplanation(what.denied, "read").message
    case "TargetConflict":
      return `${where}: ${what.path} is ${what.value}, and ${what.other}. Name another one.`
    case "UnknownTable":
      return `${where}: tables: there is no table or family ${what.table}${suggestion(what.closest)}`
    case "KeyUnusable":
      return `${where}: ${what.reference} cannot be used as a key: ${what.cause}.`
    case "UnknownResource":
      return `${where}: schema.resources.${what.resource}: there is no such resource${suggestion(what.closest)}`
    case "UnknownTableSection":
      return `${where}: [tables.${what.table}]: there is no such table${suggestion(what.closest)}`
    case "UnknownColumn":
      return `${where}: tables.${what.table}.${what.key}: the table has no column or child table ${what.column}${suggestion(what.closest)}`
    case "NeededColumn":
      return `${where}: tables.${what.table}.${what.key}: ${what.column} cannot be kept out: ${needs[what.need](what.table)}.`
    case "NeededOfClass":
      return `${where}: personal_data.exclude_classes: ${what.table}.${what.column} is of such a class and cannot be kept out: ${needs[what.need](what.table)}.`
    case "NoSingleReads":
      return `${where}: tables.${what.table}.details: ${what.table} takes no request for each record, so there is nothing to leave out.`
    case "OnlyAndExclude":
      return `${where}: tables.${what.table} has only and exclude. Keep one of them: only lists what is stored, exclude what is not.`
    case "NotHashable":
      return `${where}: tables.${what.table}.hash: ${what.column} holds no free text, or is excluded too. Exclude it only, or hash another column.`
    case "UnknownField":
      return `${where}: schema.accepted: ${what.field} does not name a table and one of its fields, as in contacts.loyaltyTier${suggestion(what.closest)}`
  }
}

/** Why a column is needed, and what can be done instead. */
const needs: Readonly<
  Record<Extract<SettingProblem["what"], { _tag: "NeededColumn" }>["need"], (table: string) => string>
> = {
  key: (table) => `it identifies a row of ${table}. All of a child table can be kept out by its name`,
  parent: () => "it names the row that the rows belong to",
  change: () => "changes, deletions, pages and the age of records are found by it",
  request: () => "requests are made from it",
  person: () => "an erasure finds the person by it",
  whole: (table) => `a row of ${table} is stored whole or not at all. Leave the table out with --except ${table}`,
  system: () => "sluice makes it"
}
