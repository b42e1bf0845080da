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
}

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
      } else columns.set(nameOf(expression), originOf(expression, [...inner.outer, ...relations], columns, tables))
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
    const resolve = ([first = "", second]: ReadonlyArray<string>): Origin => {
      const qualified = relations.findLast(({ alias, columns }) => alias === first && columns.has(second ?? ""))
      if (qualified) return qualified.columns.get(second!)!
      return relations.find(({ columns }) => columns.has(first))?.columns.get(first) ?? before.get(first) ?? nothing
    }
    const within = (value: unknown): ReadonlyArray<Origin> => {
      if (Array.isArray(value)) return value.flatMap(within)
      if (typeof value !== "object" || value === null) return []
      const node = asNode(value)
      if (node["class"] === "COLUMN_REF") return [resolve(node["column_names"] as ReadonlyArray<string>)]
      // The value of a window function is that of its arguments, if it has any.
      if (node["class"] === "WINDOW" && node["children"] !== undefined) return within(node["children"])
      if (node["class"] !== "SUBQUERY") return Object.values(node).flatMap(within)
      const rows = selected(nodeAt(nodeAt(node, "subquery"), "node"), { tables, outer: relations })
      return [...rows.values(), ...within(node["child"])]
    }
    const found = within(expression)
    return expression["class"] === "COLUMN_REF" ? found[0]! : { from: merged(found).from }
  }
}

/** The value of either one. */
const merged = (origins: ReadonlyArray<Origin>): Origin => {
  const [first = nothing] = origins
  const from = new Set(origins.flatMap((origin) => [...origin.from]))
  return origins.every(({ copyOf }) => copyOf === first.copyOf) ? { from, copyOf: first.copyOf } : { from }
}

const nameOf = (expression: Node): string => {
  const names = expression["column_names"]
  return String(expression["alias"] || (Array.isArray(names) ? names.at(-1) : expression["function_name"]))
}

const asNode = (value: unknown): Node => (typeof value === "object" && value !== null ? (value as Node) : {})
const nodeAt = (node: Node | undefined, key: string): Node => asNode(node?.[key])
const nodesAt = (node: Node, key: string): ReadonlyArray<Node> => {
  const value = node[key]
  return Array.isArray(value) ? value.map(asNode) : []
}
