/** Counts what a program sends to DuckDB. Planning a statement takes longer than most of them, whatever machine it is. */
import { DuckDBConnection } from "@duckdb/node-api"

/** The texts of the calls of DuckDB that `run` makes in this process; `onCall` gets each at once. */
export const statementsOf = async <A>(
  run: () => Promise<A>,
  onCall: (sql: string) => unknown = () => {}
): Promise<{ readonly result: A; readonly calls: ReadonlyArray<string> }> => {
  const { run: sent, stream } = DuckDBConnection.prototype
  const calls: Array<string> = []
  // The other methods call one of these.
  DuckDBConnection.prototype.run = function (sql, ...more) {
    calls.push(sql)
    onCall(sql)
    return sent.call(this, sql, ...more)
  }
  DuckDBConnection.prototype.stream = function (sql, ...more) {
    calls.push(sql)
    onCall(sql)
    return stream.call(this, sql, ...more)
  }
  try {
    return { result: await run(), calls }
  } finally {
    Object.assign(DuckDBConnection.prototype, { run: sent, stream })
  }
}
