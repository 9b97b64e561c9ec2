import { inBoth } from '../dictionary.ts'

/** Columns of the table of domains, and its end. */
export const columns = inBoth(
  {
    'columns.title': 'Columnas',
    'columns.width': 'Ancho de la columna {name}',
    'columns.density': 'Altura de las filas',
    'columns.compact': 'Filas compactas',
    'columns.roomy': 'Filas amplias',
    'columns.reset': 'Restablecer columnas',
    'columns.common': 'En todas las filas: {values}',
    'columns.deleted': 'Eliminación',
    'columns.heldBy': 'lo tiene {account}',
    'columns.note': 'Nota: {note}',
    'columns.seenBy': 'Visto por {account}, {at}',
    'columns.toEnd': 'Yendo al final…',
  },
  {
    'columns.title': 'Columns',
    'columns.width': 'Width of column {name}',
    'columns.density': 'Row height',
    'columns.compact': 'Compact rows',
    'columns.roomy': 'Roomy rows',
    'columns.reset': 'Reset columns',
    'columns.common': 'In every row: {values}',
    'columns.deleted': 'Deleted',
    'columns.heldBy': 'held by {account}',
    'columns.note': 'Note: {note}',
    'columns.seenBy': 'Seen by {account}, {at}',
    'columns.toEnd': 'Going to the end…',
  },
)
