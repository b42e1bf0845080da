/** Phone numbers in one form, so that different ways to write a number give the same pseudonym. */

/** Fewer digits are no number of a person. */
const digitsMin = 7

/**
 * Returns a function that writes a number in the form E.164. `country`: the two letters of the country whose numbers need no
 * country code. A number that fits no country is reduced to its digits. Null for a text that is no phone number.
 */
export const phoneNormaliser = async (): Promise<(text: string, country: string | undefined) => string | null> => {
  // 80 ms, so only masking loads it.
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js")
  return (text, country = "") => {
    const digits = text.replaceAll(/\D/g, "")
    if (digits.length < digitsMin) return null
    const region = country.toUpperCase()
    return parsePhoneNumberFromString(text, isSupportedCountry(region) ? region : undefined)?.number ?? digits
  }
}
