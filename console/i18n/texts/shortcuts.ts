import { addTexts, inBoth } from '../dictionary.ts'

/** The list of keyboard shortcuts. */
export const shortcuts = inBoth(
  {
    'keys.title': 'Atajos de teclado',
    'keys.on': 'Usar atajos de una sola letra',
    'keys.search': 'Buscar',
    'keys.palette': 'Paleta de comandos',
    'keys.move': 'Moverse por la tabla',
    'keys.open': 'Abrir los detalles',
    'keys.review': 'Marcar o desmarcar para revisión',
    'keys.discard': 'Descartar o restaurar',
    'keys.undo': 'Deshacer',
    'keys.select': 'Seleccionar',
    'keys.next': 'Detalles siguientes y anteriores',
    'keys.close': 'Cerrar',
    'keys.help': 'Esta ayuda',
  },
  {
    'keys.title': 'Keyboard shortcuts',
    'keys.on': 'Use single-letter shortcuts',
    'keys.search': 'Search',
    'keys.palette': 'Command palette',
    'keys.move': 'Move through the table',
    'keys.open': 'Open details',
    'keys.review': 'Mark or unmark for review',
    'keys.discard': 'Discard or restore',
    'keys.undo': 'Undo',
    'keys.select': 'Select',
    'keys.next': 'Next and previous details',
    'keys.close': 'Close',
    'keys.help': 'This help',
  },
)

addTexts(shortcuts)
