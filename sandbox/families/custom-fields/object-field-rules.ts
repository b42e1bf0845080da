import { invalid } from "../../http/errors.ts"
import { type Shape, between, choice, flag, integer, list, object, required, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"

const dataTypes = (
  "TEXT LARGE_TEXT NUMERICAL PHONE MONETORY CHECKBOX SINGLE_OPTIONS MULTIPLE_OPTIONS DATE TEXTBOX_LIST FILE_UPLOAD " +
  "RADIO EMAIL"
).split(" ")

export const objectFieldChangeShape: Shape = {
  showInForms: required(flag),
  name: text,
  description: text,
  placeholder: text,
  options: list(object({ key: required(text), label: required(text), url: text })),
  acceptedFormats: choice(...".pdf .docx .doc .jpg .jpeg .png .gif .csv .xlsx .xls all".split(" ")),
  maxFileLimit: between(integer, 1),
  // These cannot change, so an update compares them and does not store them.
  dataType: choice(...dataTypes),
  fieldKey: text,
  objectKey: text,
  parentId: text
}

export const objectFieldShape: Shape = {
  ...objectFieldChangeShape,
  dataType: required(choice(...dataTypes)),
  fieldKey: required(text),
  objectKey: required(text),
  parentId: required(text),
  allowCustomOption: flag
}

/** Checks that the data type allows all members of the body (A 2.5). */
export const checkRules = (body: Data, dataType: string): void => {
  const problems = Object.entries(onlyFor)
    .filter(([name, types]) => body[name] !== undefined && body[name] !== null && !types.includes(dataType))
    .map(([name]) => `${name} is not allowed for the dataType ${dataType}`)
  const options = (body["options"] ?? []) as ReadonlyArray<Data>
  if (dataType !== "RADIO" && options.some((option) => option["url"] !== undefined)) {
    problems.push("the url of an option is allowed for the dataType RADIO only")
  }
  if (problems.length > 0) throw invalid(...problems)
}

const onlyFor: Record<string, ReadonlyArray<string>> = {
  options: ["SINGLE_OPTIONS", "MULTIPLE_OPTIONS", "RADIO", "CHECKBOX", "TEXTBOX_LIST"],
  allowCustomOption: ["RADIO"],
  acceptedFormats: ["FILE_UPLOAD"],
  maxFileLimit: ["FILE_UPLOAD"]
}
