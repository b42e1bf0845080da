/** Version of sluice, which is also the version of the contract of its tables. */
export const sluiceVersion = "1.1.0"
