import type { Texts } from '../dictionary.ts'

/** Columns of the table of domains, and its end. */
export const columns = {
  'columns.title': ['Columnas', 'Columns'],
  'columns.width': ['Ancho de la columna {name}', 'Width of column {name}'],
  'columns.density': ['Altura de las filas', 'Row height'],
  'columns.compact': ['Filas compactas', 'Compact rows'],
  'columns.roomy': ['Filas amplias', 'Roomy rows'],
  'columns.reset': ['Restablecer columnas', 'Reset columns'],
  'columns.common': ['En todas las filas: {values}', 'In every row: {values}'],
  'columns.deleted': ['Eliminación', 'Deleted'],
  'columns.heldBy': ['lo tiene {account}', 'held by {account}'],
  'columns.note': ['Nota: {note}', 'Note: {note}'],
  'columns.seenBy': ['Visto por {account}, {at}', 'Seen by {account}, {at}'],
  'columns.toEnd': ['Yendo al final…', 'Going to the end…'],
} as const satisfies Texts
