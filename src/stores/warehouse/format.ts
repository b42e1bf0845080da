/** The format of a warehouse file. It increases when names in `meta` change; older files then need a rebuild. */
export const format = 3

/** Lists the tables of `meta`; no rows in a new file. */
export const metaTablesSql =
  "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'meta'"

/** Valid only if `meta.schema_version` exists. */
export const formatSql = "SELECT format FROM meta.schema_version"
