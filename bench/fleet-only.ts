/** Loaded before sluice: its syncs, which a worker asks for in lines of JSON, read the tables in BENCH_ONLY alone. */
const { parse } = JSON
Object.assign(JSON, {
  parse: (...given: Parameters<typeof parse>) => {
    const value = parse(...given) as { readonly args?: Array<string> } | null
    if (value?.args?.[0] === "sync") value.args.push("--only", process.env["BENCH_ONLY"]!)
    return value
  }
})
