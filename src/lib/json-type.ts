/** The JSON type of a value, in Spanish and with its article, to end a message: "debe ser un número, no un texto". */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'un arreglo'
  switch (typeof value) {
    case 'string':
      return 'un texto'
    case 'number':
      return 'un número'
    case 'boolean':
      return 'un valor lógico'
    default:
      return 'un objeto'
  }
}
