import { invalid } from "../../http/errors.ts"
import { instant } from "../../http/parameters.ts"
import {
  type Shape,
  anything,
  between,
  choice,
  flag,
  integer,
  list,
  number,
  object,
  required,
  text,
  timestamp
} from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"

const dataTypes = (
  "TEXT LARGE_TEXT NUMERICAL PHONE MONETORY CHECKBOX SINGLE_OPTIONS MULTIPLE_OPTIONS FLOAT DATE TEXTBOX_LIST " +
  "FILE_UPLOAD SIGNATURE RADIO URL USER TIME DATE_TIME RICH_TEXT"
).split(" ")

/** The members of a custom field that a body may set (A 2.4, A 4.3). */
export const fieldChangeShape: Shape = {
  name: text,
  dataType: choice(...dataTypes),
  placeholder: text,
  position: number,
  picklistOptions: list(text),
  picklistImageOptions: list(anything),
  isAllowedCustomOption: flag,
  acceptedFormat: list(text),
  isMultipleFile: flag,
  maxNumberOfFiles: between(integer, 1),
  textBoxListOptions: list(object({ label: required(text), prefillValue: text })),
  urlValidation: object({
    mode: required(choice("allow_all", "allow_only", "block")),
    allowedDomains: list(text),
    blockedDomains: list(text)
  }),
  dateTimeValidation: object({
    mode: required(choice("any", "future_only", "past_only", "range")),
    bufferDays: between(number, 0),
    rollingDays: between(number, 0),
    rangeMin: timestamp,
    rangeMax: timestamp,
    daysAllowed: list(between(number, 0, 6)),
    inputType: choice("date_only", "time_only", "date_and_time")
  }),
  userFieldConfig: object({ multiSelect: flag }),
  optionDisplayType: choice("TEXT_ONLY", "TEXT_WITH_ICON", "TEXT_WITH_IMAGE")
}

/** Checks the rules of the data type, and throws 422 with all violations. `old` is the field that an update changes. */
export const checkRules = (body: Data, dataType: string, old: Data = {}): void => {
  const has = (name: string): boolean => (body[name] ?? old[name] ?? undefined) !== undefined
  const problems: Array<string> = []
  for (const [name, types] of Object.entries(onlyFor)) {
    if (!Object.hasOwn(body, name) || body[name] === null || types.includes(dataType)) continue
    problems.push(`${name} is not allowed for the dataType ${dataType}`)
  }
  for (const [name, types] of Object.entries(requiredFor)) {
    if (types.includes(dataType) && !has(name)) problems.push(`${name} is required for the dataType ${dataType}`)
  }
  for (const format of (body["acceptedFormat"] ?? []) as ReadonlyArray<string>) {
    if (!/^\.\w+$/.test(format)) problems.push("acceptedFormat must hold file extensions such as .pdf")
  }
  problems.push(...urlProblems(body["urlValidation"] as Data | undefined))
  problems.push(...dateProblems(body["dateTimeValidation"] as Data | undefined, dataType))
  if (problems.length > 0) throw invalid(...problems)
}

const urlProblems = (rules: Data | undefined | null): ReadonlyArray<string> => {
  const missing = { allow_only: "allowedDomains", block: "blockedDomains" }[String(rules?.["mode"])]
  if (missing === undefined || (rules?.[missing] as ReadonlyArray<string> | undefined)?.length) return []
  return [`urlValidation.${missing} is required with the mode ${String(rules!["mode"])}`]
}

const dateProblems = (rules: Data | undefined | null, dataType: string): ReadonlyArray<string> => {
  if (rules === undefined || rules === null) return []
  const { bufferDays, daysAllowed, inputType, mode, rangeMax, rangeMin, rollingDays } = rules
  const isSent = (value: unknown): boolean => value !== undefined && value !== null
  const [min, max] = [instant(rangeMin), instant(rangeMax)]
  const broken: ReadonlyArray<readonly [boolean, string]> = [
    [isSent(bufferDays) && mode !== "future_only", "bufferDays is for the mode future_only"],
    [isSent(rollingDays) && mode !== "future_only", "rollingDays is for the mode future_only"],
    [isSent(bufferDays) && isSent(rollingDays), "bufferDays and rollingDays cannot be combined"],
    [mode === "range" && (min === undefined || max === undefined), "rangeMin and rangeMax are required for a range"],
    [min !== undefined && max !== undefined && min > max, "rangeMin must not be after rangeMax"],
    [isSent(daysAllowed) && mode === "any", "daysAllowed is not for the mode any"],
    [isSent(inputType) && dataType !== "DATE_TIME", "inputType is for DATE_TIME"]
  ]
  return broken.filter(([isBroken]) => isBroken).map(([, says]) => `dateTimeValidation.${says}`)
}

/** A field as reads return it: two members for files have other names there (A 2.4). */
export const storedField = ({ isMultipleFile, maxNumberOfFiles, ...body }: Data): Data => ({
  ...body,
  ...(isMultipleFile !== undefined && { isMultiFileAllowed: isMultipleFile }),
  ...(maxNumberOfFiles !== undefined && { maxFileLimit: maxNumberOfFiles }),
  ...(onlyFor["optionDisplayType"]!.includes(String(body["dataType"])) && {
    optionDisplayType: body["optionDisplayType"] ?? "TEXT_ONLY"
  })
})

const choices = ["SINGLE_OPTIONS", "MULTIPLE_OPTIONS", "RADIO", "CHECKBOX"]

const onlyFor: Record<string, ReadonlyArray<string>> = {
  picklistOptions: choices,
  picklistImageOptions: choices,
  isAllowedCustomOption: choices,
  acceptedFormat: ["FILE_UPLOAD"],
  isMultipleFile: ["FILE_UPLOAD"],
  maxNumberOfFiles: ["FILE_UPLOAD"],
  textBoxListOptions: ["TEXTBOX_LIST"],
  urlValidation: ["URL"],
  dateTimeValidation: ["TIME", "DATE_TIME", "DATE"],
  userFieldConfig: ["USER"],
  optionDisplayType: ["RADIO", "CHECKBOX"]
}

const requiredFor: Record<string, ReadonlyArray<string>> = {
  urlValidation: ["URL"],
  dateTimeValidation: ["TIME", "DATE_TIME"],
  userFieldConfig: ["USER"]
}
