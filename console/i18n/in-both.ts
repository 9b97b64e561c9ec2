/**
 * Texts of one part of the console in both languages. Spanish is the first: its keys are the ones there are, and English
 * must have each of them and no other.
 */
export function inBoth<const Spanish extends Readonly<Record<string, string>>>(
  es: Spanish,
  en: Readonly<Record<keyof NoInfer<Spanish>, string>>,
) {
  return { es, en }
}
