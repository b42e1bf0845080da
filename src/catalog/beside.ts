/**
 * What stands beside the list of a route. An empty list says that there are no records only in the shape that the definition
 * names, or that answers with records have shown. What members mean does not matter: names are whatever a service chooses.
 */
import { isObject, membersOf, written } from "./json.ts"
import type { Beside, Strategy } from "./strategy.ts"

/** What answers of one route have shown, in this run and, for kinds and empties, in earlier ones. */
export class Shapes {
  /** The kinds of members in answers with records, by path. */
  readonly kinds: Record<string, string>
  /** What the route has beside each empty list, as `path=value`, learnt because such answers and others alternate. */
  readonly empties: Set<string>
  /** What of it was learnt in this run. */
  readonly learnt: Array<string> = []
  /** Statuses of answers with records. */
  readonly statuses = new Set([200])
  /** Texts that were the same in all answers with records of this run, and in how many. */
  private readonly constants = new Map<string, { readonly text: string; readonly count: number }>()
  /** Changes between answers with records and empty ones with something strange, by what is strange. */
  private readonly changes = new Map<string, { readonly count: number; readonly isEmpty: boolean }>()
  /** Whether the route has been empty without anything strange: then what is strange is not how it is empty. */
  private hasEmpty = false
  private readonly questions = new WeakMap<object, string>()
  /** What stood beside an empty list although the same request had records when it was repeated. */
  private readonly lies = new Set<string>()

  constructor(kinds: Readonly<Record<string, string>> = {}, empties: Iterable<string> = []) {
    this.kinds = { ...kinds }
    this.empties = new Set(empties)
  }

  /** An answer with records. `question`: the request; one that was answered without any before was not answered then. */
  filled(members: Members, status: number, question?: object): void {
    const lie = question && this.questions.get(question)
    if (lie !== undefined) this.lies.add(lie)
    this.statuses.add(status)
    for (const [path, value] of members) {
      const kind = kindOf(value)
      const before = this.kinds[path]
      this.kinds[path] = before === undefined || before === kind ? kind : wider(before, kind)
      if (typeof value !== "string") continue
      const constant = this.constants.get(path)
      const isSame = constant === undefined || constant.text === value
      this.constants.set(path, { text: isSame ? value : "", count: isSame ? (constant?.count ?? 0) + 1 : -Infinity })
    }
    for (const [members, { count, isEmpty }] of this.changes)
      if (isEmpty) this.changes.set(members, { count: count + 1, isEmpty: false })
  }

  /** An empty answer. Returns whether what is strange in it is how this route is empty. */
  empty(strange: Members, question?: object): boolean {
    if (strange.length === 0) this.hasEmpty = true
    const members = strange.map(([path, value]) => `${path}=${written(value)}`).join(" ")
    if (question && members !== "") this.questions.set(question, members)
    if (this.empties.has(members)) return true
    const { count, isEmpty } = this.changes.get(members) ?? { count: 0, isEmpty: false }
    this.changes.set(members, { count: count + (isEmpty ? 0 : 1), isEmpty: true })
    if (this.hasEmpty || this.changes.size > 1 || this.lies.has(members) || count < changesMin) return false
    this.empties.add(members)
    this.learnt.push(members)
    return true
  }

  /** Whether the answers so far allow a member beside an empty list. `isFirst`: no page of the list had records. */
  allows(path: string, value: unknown, isFirst: boolean): boolean {
    const constant = this.constants.get(path)
    if (constant !== undefined && constant.count >= constantMin && constant.text !== value) return false
    const [seen, kind] = [this.kinds[path], kindOf(value)]
    if (seen === "true" && kind === "false" && !isFirst) return true
    return seen !== undefined && (kind === "null" || kind === seen || wider(seen, kind) === seen)
  }

  /** What later runs need. */
  get stored() {
    return { kinds: this.kinds, empties: [...this.empties] }
  }

  /** Members that were true in every answer with records. */
  get required(): ReadonlyArray<string> {
    return Object.keys(this.kinds).filter((path) => this.kinds[path] === "true")
  }
}

type Members = ReadonlyArray<readonly [path: string, value: unknown]>

/** Three answers, each of which is counted twice: when it arrives, and in its list. */
const constantMin = 6
/** Three empty answers with the same strange members, each between answers with records. */
const changesMin = 5

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return value.length === 0 ? "no list" : "list"
  if (typeof value === "string") return value === "" ? "no text" : "text"
  if (typeof value === "number") return value === 0 ? "zero" : "number"
  return typeof value === "object" ? "object" : String(value)
}

/** The kind that has both. */
const wider = (one: string, other: string): string =>
  families.find((family) => family.includes(one) && family.includes(other))?.[0] ??
  (one === "null" ? other : other === "null" ? one : "different kinds")
const families: ReadonlyArray<ReadonlyArray<string>> = [
  ["boolean", "true", "false"],
  ["number", "zero"],
  ["text", "no text"],
  ["list", "no list"]
]

/** The members in the objects around the records, with their paths. Objects beside the records are walked. */
export const membersBeside = (body: unknown, path: string): Members => {
  const [name, ...inner] = path.split(".")
  return Object.entries(isObject(body) ? membersOf(body) : {}).flatMap(([member, value]) =>
    member === name
      ? membersBeside(inner.length > 0 ? value : undefined, inner.join(".")).map(under(member))
      : inside(member, value)
  )
}
const under =
  (member: string) =>
  ([path, value]: readonly [string, unknown]) =>
    [`${member}.${path}`, value] as const
const inside = (path: string, value: unknown): Members => {
  const members = isObject(value) ? Object.entries(value) : []
  return [[path, value], ...members.flatMap(([name, one]) => inside(`${path}.${name}`, one))]
}

/** What an answer to a strategy may have beside its list, by path: what the definition names. */
export const namedBeside = ({ beside, more, paging, total }: Partial<Strategy>): Readonly<Record<string, Beside>> => {
  const parts = paging?.kind === "body" ? Object.values(paging.parts) : []
  const places = [total, more, ...parts, paging && "field" in paging ? paging.field : undefined]
  const around = places.flatMap((place) => place?.split(".").map((_, n, all) => all.slice(0, n + 1).join(".")) ?? [])
  return { traceId: "text", ...Object.fromEntries(around.map((place) => [place, "any" as const])), ...beside }
}

export const isNamedKind = (named: Beside | undefined, value: unknown): boolean => {
  const kind = kindOf(value)
  if (named === "ok") return Number(value) >= 200 && Number(value) < 300
  return (
    named === "any" || named === kind || wider(named ?? "", kind) === named || (kind === "null" && named !== undefined)
  )
}
