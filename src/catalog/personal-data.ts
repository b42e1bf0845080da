/** The classes of personal data: what a column says about a person. */

/** From the class that needs most care to the one that needs none. */
export const personalDataClasses = ["sensitive", "direct", "content", "financial", "quasi", "none"] as const
export type PersonalData = (typeof personalDataClasses)[number]

export const personalDataMeanings: Readonly<Record<PersonalData, string>> = {
  sensitive: "needs special care by law, such as health or a social security number",
  direct: "identifies a person, or may contain anything",
  content: "is what people wrote or said",
  financial: "is money, or identifies a payment",
  quasi: "helps to identify a person together with other values",
  none: "is none of these"
}

/** The class of a value that contains values of these classes. */
export const worstOf = (classes: ReadonlyArray<PersonalData>): PersonalData =>
  personalDataClasses.find((one) => classes.includes(one)) ?? "none"

/** The classes of custom fields whose class is not `direct`, by their key, such as `contact.loyalty_level`. */
export type CustomFieldClasses = Readonly<Record<string, PersonalData>>
