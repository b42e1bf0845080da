/** The kinds of charts, as they are drawn and saved. */
export const chartKinds = ["bar", "grouped", "line", "area"] as const
export type ChartKind = (typeof chartKinds)[number]
export const isChartKind = (kind: unknown): kind is ChartKind => chartKinds.some((one) => one === kind)
