/**
 * Changes values of a settings file and keeps everything else as it is: comments, order, and the form of what was not changed.
 * The result is parsed again and compared, so a file that this cannot change is refused and never damaged.
 */
import * as Result from "effect/Result"
import { parse } from "effect/encoding/Toml"
import { isDeepStrictEqual } from "node:util"
import { tomlOf } from "./documents.ts"
import { keyPattern, keysOf } from "./file.ts"

type Values = Readonly<Record<string, unknown>>

/** `changes`: by `section.key`; null removes a value, so that its default counts. Fails with a sentence. */
export const withChanges = (content: string, changes: Values): Result.Result<string, string> => {
  let edited = content
  let expected = parsed(content)
  for (const [path, value] of Object.entries(changes)) {
    const [section = "", key = ""] = path.split(".")
    edited = withChange(edited, section, key, value)
    expected = withValue(expected, section, key, value)
  }
  return isDeepStrictEqual(filled(parsed(edited)), filled(expected))
    ? Result.succeed(edited)
    : Result.fail(`The file writes ${Object.keys(changes).join(" or ")} in a form that only a person can change.`)
}

/** Adds an item at the end: `[[locations]]`, or with a name `[tables.contacts]`, which must be new. */
export const withItem = (
  content: string,
  list: string,
  values: Values,
  name?: string
): Result.Result<string, string> => {
  const before = parsed(content)
  const earlier = (before as Readonly<Record<string, unknown>> | undefined)?.[list] ?? (name === undefined ? [] : {})
  if (name !== undefined && Object.hasOwn(earlier, name))
    return Result.fail(`[${list}.${name}] is in the file already; change it there.`)
  const header = name === undefined ? `[[${list}]]` : `[${list}.${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}]`
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${tomlOf(value)}`)
  const edited = `${content.trimEnd()}\n\n${header}\n${lines.join("\n")}\n`
  const items =
    name === undefined ? Array.isArray(earlier) && [...earlier, values] : { ...(earlier as Values), [name]: values }
  return isDeepStrictEqual(parsed(edited), { ...before, [list]: items })
    ? Result.succeed(edited)
    : Result.fail(`The file writes ${list} in a form that only a person can change.`)
}

/** Removes an item, from its header to the next one: the second `[[silence]]` is 1, and `[tables.contacts]` is contacts. */
export const withoutItem = (content: string, list: string, item: string): Result.Result<string, string> => {
  const before = parsed(content)
  const lines = content.split("\n")
  const headers = keysOf(content).filter(({ isHeader }) => isHeader)
  const found = headers.find(({ keys }) => keys.length === 2 && keys[0] === list && keys[1] === String(item))
  const next = headers.find(({ line }) => found !== undefined && line > found.line)
  let end = (next?.line ?? lines.length + 1) - 1
  // What is said above the next one is about that.
  while (end > 0 && /^\s*(#|$)/.test(lines[end - 1]!)) end--
  const left = found === undefined ? lines : lines.toSpliced(found.line - 1, Math.max(0, end - found.line + 1))
  const edited = `${left.join("\n").trimEnd()}\n`
  const { [list]: items, ...others } = before ?? {}
  const rest = Array.isArray(items)
    ? items.filter((_, index) => String(index) !== item)
    : Object.fromEntries(Object.entries((items ?? {}) as Values).filter(([name]) => name !== item))
  const expected = Object.keys(rest).length === 0 ? others : { ...others, [list]: rest }
  return found !== undefined && isDeepStrictEqual(parsed(edited), expected)
    ? Result.succeed(edited)
    : Result.fail(`The file writes ${list} in a form that only a person can change.`)
}

const parsed = (content: string): Values | undefined => {
  const result = parse(content)
  // Without the prototypes of the parser, so that it can be compared.
  return Result.isSuccess(result) ? (structuredClone(result.success) as Values) : undefined
}

/** A section without a value says nothing. */
const filled = (all: Values | undefined): Values =>
  Object.fromEntries(Object.entries(all ?? {}).filter(([, one]) => !isDeepStrictEqual(one, {})))

const withValue = (all: Values | undefined, section: string, key: string, value: unknown): Values => {
  const { [key]: _, ...others } = (all?.[section] ?? {}) as Values
  return { ...all, [section]: value === null ? others : { ...others, [key]: value } }
}

const withChange = (content: string, section: string, key: string, value: unknown): string => {
  const lines = content.split("\n")
  const keys = keysOf(content)
  const at = keys.find((one) => one.keys.length === 2 && one.keys[0] === section && one.keys[1] === key)
  if (at !== undefined) {
    const first = at.line - 1
    const length = lengthOf(lines.slice(first))
    const [, begin = ""] = new RegExp(String.raw`^(\s*${keyPattern}\s*=)`).exec(lines[first]!) ?? []
    const line = `${begin} ${tomlOf(value)}${length === 1 ? commentOf(lines[first]!) : ""}`
    return lines.toSpliced(first, length, ...(value === null ? [] : [line])).join("\n")
  }
  if (value === null) return content
  const line = `${key} = ${tomlOf(value)}`
  const header = keys.find((one) => one.keys.length === 1 && one.keys[0] === section)
  if (header === undefined) return `${content.trimEnd()}\n\n[${section}]\n${line}\n`.trimStart()
  const next = keys.find((one) => one.line > header.line && one.isHeader)?.line ?? lines.length + 1
  // Below its description, where the file has it as a comment.
  const example = lines.findIndex(
    (text, index) => index >= header.line && index < next - 1 && new RegExp(String.raw`^# ${key}\s*=`).test(text)
  )
  return lines.toSpliced(example < 0 ? header.line : example + 1, 0, line).join("\n")
}

/** How many lines the value takes that begins in the first. */
const lengthOf = (lines: ReadonlyArray<string>): number => {
  for (let length = 1; length < lines.length; length++)
    if (parsed(lines.slice(0, length).join("\n")) !== undefined) return length
  return lines.length
}

/** The comment behind a value, with the blanks before it. */
const commentOf = (line: string): string => {
  for (const { index } of line.matchAll(/\s*#/g))
    if (parsed(line.slice(0, index)) !== undefined) return line.slice(index)
  return ""
}
