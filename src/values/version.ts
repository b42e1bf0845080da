/** Version of sluice, which is also the version of the contract of its tables. */
export const sluiceVersion = "0.1.0"
