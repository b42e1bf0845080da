/** The format of a warehouse file: raised when names in `meta` change their meaning, and older files need a rebuild. */
export const format = 2

/** Tables of `meta`, where there are any. */
export const metaTablesSql =
  "SELECT table_name FROM duckdb_tables() WHERE database_name = 'warehouse' AND schema_name = 'meta'"
/** To be asked only where `meta.schema_version` exists; files of format 1 have no such table. */
export const formatSql = "SELECT format FROM meta.schema_version"
