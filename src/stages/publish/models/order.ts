/** The order in which models are built: each after those to which it refers. */
import { wrong } from "../../../values/finding.ts"
import { closest, suggestion } from "../../../settings/closest.ts"
import { type Model, type ModelProblem, type Source, isProblem, refsOf, sourcesOf } from "./model.ts"

export interface Ordered {
  readonly models: ReadonlyArray<Model>
  /** Models that cannot be built, and those that refer to them. */
  readonly problems: ReadonlyArray<ModelProblem>
}

/** The models that need no other tables of `crm` and `crm_history` than these. */
export const withSources = ({ models, problems }: Ordered, tables: ReadonlySet<string>): Ordered => {
  const kept = new Set<string>()
  for (const model of models)
    if (
      sourcesOf(model).every(({ schema, table }) => schema === "meta" || tables.has(table)) &&
      refsOf(model).every((ref) => kept.has(ref))
    )
      kept.add(model.name)
  return { models: models.filter(({ name }) => kept.has(name)), problems }
}

export const orderOf = (all: ReadonlyArray<Model | ModelProblem>, hasSource: (source: Source) => boolean): Ordered => {
  const byName = new Map<string, Model>()
  const problems: Array<ModelProblem> = []
  for (const model of all)
    if (!isProblem(model)) {
      const other = byName.get(model.name)
      if (other) problems.push(wrong(model.file, `${model.file}: ${other.file} has the same name`))
      else byName.set(model.name, model)
    }
  // A wrong file does not take away another model of the same name.
  for (const { where, what } of all.filter(isProblem)) problems.push(wrong(byName.has(where) ? what : where, what))
  const failed = new Set(problems.map(({ where }) => where))
  const done = new Set<string>()
  const models: Array<Model> = []
  const fail = ({ name, file }: Model, what: string): false => {
    failed.add(name)
    problems.push(wrong(name, `${file}: ${what}`))
    return false
  }
  /** Whether the model can be built. `path`: the models that led to it. */
  const visit = (model: Model, path: ReadonlyArray<string>): boolean => {
    if (done.has(model.name)) return true
    if (failed.has(model.name)) return false
    if (path.includes(model.name))
      return fail(model, `refers to itself: ${[...path.slice(path.indexOf(model.name)), model.name].join(" -> ")}`)
    const missing = sourcesOf(model).find((source) => !hasSource(source))
    if (missing) return fail(model, `there is no table ${missing.schema}.${missing.table}`)
    for (const ref of refsOf(model)) {
      const target = byName.get(ref)
      if (target === undefined && !failed.has(ref))
        return fail(model, `there is no model ${ref}${suggestion(closest(ref, [...byName.keys()]))}`)
      if (target === undefined || !visit(target, [...path, model.name]))
        return failed.has(model.name) ? false : fail(model, `the model ${ref}, to which it refers, cannot be built`)
    }
    done.add(model.name)
    models.push(model)
    return true
  }
  for (const model of byName.values()) visit(model, [])
  return { models, problems }
}
