/** As documented by the service, for each location. The limits that it reports are not stored. */
export const documentedLimits = { perDay: 200_000, burst: 100, windowMs: 10_000 }
