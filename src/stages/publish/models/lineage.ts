/**
 * From which columns each column of a SELECT is made, according to the tree that DuckDB's parser makes of it. Conditions of joins
 * and filters decide which rows there are, so they are not followed, but where what is joined is written in the SQL: then its
 * values follow from those that it is looked up by. What the tree does not say, such as the columns of a table function, is
 * left out.
 */

export interface Origin {
  /** The columns of tables, such as `contacts.email`. */
  readonly from: ReadonlySet<string>
  /** The column whose value it is, unchanged. */
  readonly copyOf?: string | undefined
  /** Without the columns that are only compared, counted, or decide which value it is. */
  readonly numbers?: Numbers
  /** Those of them that it adds up over rows. */
  readonly sums?: Numbers | undefined
}

/** The columns whose numbers a value has, perhaps changed, and those by which each is multiplied. */
export type Numbers = ReadonlyMap<string, ReadonlySet<string>>

/** The columns of a table as they are. */
export const tableOf = (table: string, columns: Iterable<string>): Relation =>
  new Map(
    Array.from(columns, (column) => {
      const path = `${table}.${column}`
      return [column, { from: new Set([path]), copyOf: path, numbers: new Map([[path, new Set<string>()]]) }]
    })
  )

/** The columns of a table, a model or a SELECT, in order. */
export type Relation = ReadonlyMap<string, Origin>

type Node = Readonly<Record<string, unknown>>
interface Named {
  readonly alias: string
  readonly columns: Relation
}
interface Scope {
  /** Tables of WITH, by name. */
  readonly tables: ReadonlyMap<string, Relation>
  /** The relations of the SELECTs around a subquery, from the outer to the inner. */
  readonly outer: ReadonlyArray<Named>
}

const nothing: Origin = { from: new Set() }

/** `statement`: what `json_serialize_sql` returns. */
export const lineageOf = (statement: unknown, relationOf: (schema: string, table: string) => Relation | undefined) => {
  return selected(nodeAt(nodesAt(asNode(statement), "statements")[0], "node"), { tables: new Map(), outer: [] })

  function selected(node: Node, scope: Scope): Relation {
    const tables = new Map(scope.tables)
    for (const { key, value } of nodesAt(nodeAt(node, "cte_map"), "map"))
      tables.set(String(key), selected(nodeAt(nodeAt(asNode(value), "query"), "node"), { ...scope, tables }))
    const inner = { ...scope, tables }
    if (node["type"] === "SET_OPERATION_NODE") {
      const left = selected(nodeAt(node, "left"), inner)
      const right = [...selected(nodeAt(node, "right"), inner).values()]
      return new Map([...left].map(([column, origin], index) => [column, merged([origin, right[index] ?? nothing])]))
    }
    const relations = relationsIn(nodeAt(node, "from_table"), inner)
    const columns = new Map<string, Origin>()
    for (const expression of nodesAt(node, "select_list")) {
      if (expression["class"] === "STAR") {
        const wanted = expression["relation_name"]
        for (const { alias, columns: own } of relations)
          if (wanted === undefined || wanted === "" || wanted === alias)
            for (const [column, origin] of own) if (!columns.has(column)) columns.set(column, origin)
      } else
        columns.set(
          nameOf(expression) || String(columns.size),
          originOf(expression, [...inner.outer, ...relations], columns, tables)
        )
    }
    return columns
  }

  function relationsIn(node: Node, scope: Scope): ReadonlyArray<Named> {
    const alias = String(node["alias"] || node["table_name"] || "")
    switch (node["type"]) {
      case "JOIN": {
        const left = relationsIn(nodeAt(node, "left"), scope)
        const right = relationsIn(nodeAt(node, "right"), scope)
        const looked = { from: originOf(nodeAt(node, "condition"), left, new Map(), scope.tables).from }
        const isWritten = ({ columns }: Named) => [...columns.values()].every(({ from }) => from.size === 0)
        const lookedUp = ({ alias, columns }: Named) => ({
          alias,
          columns: new Map([...columns.keys()].map((column) => [column, looked] as const))
        })
        return [...left, ...right.map((one) => (isWritten(one) ? lookedUp(one) : one))]
      }
      case "SUBQUERY": {
        const columns = selected(nodeAt(nodeAt(node, "subquery"), "node"), scope)
        const names = (node["column_name_alias"] ?? []) as ReadonlyArray<string>
        return [{ alias, columns: new Map([...columns].map(([own, origin], n) => [names[n] ?? own, origin])) }]
      }
      case "EXPRESSION_LIST": {
        const [row = []] = (node["values"] ?? []) as ReadonlyArray<ReadonlyArray<unknown>>
        return [{ alias, columns: new Map(row.map((_, n) => [`col${n}`, nothing])) }]
      }
      case "BASE_TABLE": {
        const [schema, table] = [String(node["schema_name"] ?? ""), String(node["table_name"])]
        const columns = (schema === "" ? scope.tables.get(table) : undefined) ?? relationOf(schema, table)
        return [{ alias, columns: columns ?? new Map() }]
      }
      case "PIVOT": {
        // The rows decide the names of its columns.
        const source = relationsIn(nodeAt(node, "source"), scope)
        const aggregates = nodesAt(node, "aggregates").map((one) => originOf(one, source, new Map(), scope.tables))
        return [{ alias, columns: new Map([["", merged(aggregates)]]) }]
      }
      default:
        return []
    }
  }

  /** `before`: the columns that the same SELECT has named before, to which DuckDB lets an expression refer. */
  function originOf(
    expression: Node,
    relations: ReadonlyArray<Named>,
    before: Relation,
    tables: Scope["tables"]
  ): Origin {
    const resolve = ([first = "", second = ""]: ReadonlyArray<string>): Origin => {
      const qualified = relations.findLast(({ alias, columns }) => alias === first && columns.has(second))
      const own = qualified?.columns.get(second)
      if (own) return own
      return relations.find(({ columns }) => columns.has(first))?.columns.get(first) ?? before.get(first) ?? nothing
    }
    const within = (value: unknown): ReadonlyArray<Origin> => {
      if (Array.isArray(value)) return value.flatMap(within)
      if (typeof value !== "object" || value === null) return []
      const node = asNode(value)
      if (node["class"] === "COLUMN_REF") return [resolve(node["column_names"] as ReadonlyArray<string>)]
      // The value of a window function is that of its arguments, if it has any.
      if (node["class"] === "WINDOW" && node["children"] !== undefined)
        return computed(node, [within(node["children"])])
      if (node["class"] === "FUNCTION") {
        const { children, ...others } = node
        return [
          ...computed(node, (Array.isArray(children) ? children : []).map(within)),
          ...deciding(within(Object.values(others)))
        ]
      }
      if (deciders.test(String(node["type"]))) return deciding(Object.values(node).flatMap(within))
      if (node["class"] !== "SUBQUERY")
        return Object.entries(node).flatMap(([key, one]) => (key === "when_expr" ? deciding(within(one)) : within(one)))
      const rows = selected(nodeAt(nodeAt(node, "subquery"), "node"), { tables, outer: relations })
      return [...rows.values(), ...within(node["child"])]
    }
    const found = within(expression)
    return expression["class"] === "COLUMN_REF" && found[0] ? found[0] : { ...merged(found), copyOf: undefined }
  }
}

/** The value of either one. */
const merged = (origins: ReadonlyArray<Origin>): Origin => {
  const [first = nothing] = origins
  return {
    from: new Set(origins.flatMap((origin) => [...origin.from])),
    copyOf: origins.every(({ copyOf }) => copyOf === first.copyOf) ? first.copyOf : undefined,
    numbers: together(origins.map(({ numbers }) => numbers)),
    sums: together(origins.map(({ sums }) => sums))
  }
}

const together = (all: ReadonlyArray<Numbers | undefined>, isProduct = false): Numbers =>
  new Map(
    Array.from(new Set(all.flatMap((one = new Map()) => [...one.keys()])), (column) => [
      column,
      new Set(all.flatMap((one = new Map()) => [...(one.get(column) ?? (isProduct ? one.keys() : []))]))
    ])
  )

/** Comparisons and conditions. */
const deciders = /^(COMPARE|CONJUNCTION)_|^OPERATOR_(NOT|IS_)/
const deciding = (origins: ReadonlyArray<Origin>): ReadonlyArray<Origin> => origins.map(({ from }) => ({ from }))

/** The value of a function of these. */
const computed = (node: Node, parts: ReadonlyArray<ReadonlyArray<Origin>>): ReadonlyArray<Origin> => {
  const [, second] = nodesAt(node, "children")
  const isNamed = /^(list|array)_aggr|^aggregate$/.test(String(node["function_name"]))
  const called = String((isNamed && nodeAt(second, "value")["value"]) || node["function_name"])
  if (called.startsWith("count")) return deciding(parts.flat())
  const found = merged(parts.flat())
  const all = parts.map((one) => merged(one).numbers)
  const numbers = called === "*" ? together(all, true) : together(/^[/%]/.test(called) ? all.slice(0, 1) : all)
  return [
    {
      ...found,
      numbers,
      sums: /^(list_|array_|f|kahan_)?sum/.test(called) ? together([numbers, found.sums]) : found.sums
    }
  ]
}

const nameOf = (expression: Node): string => {
  const names = expression["column_names"]
  return String(expression["alias"] || (Array.isArray(names) ? names.at(-1) : ""))
}

const asNode = (value: unknown): Node => (typeof value === "object" && value !== null ? (value as Node) : {})
const nodeAt = (node: Node | undefined, key: string): Node => asNode(node?.[key])
const nodesAt = (node: Node, key: string): ReadonlyArray<Node> => {
  const value = node[key]
  return Array.isArray(value) ? value.map(asNode) : []
}
