import { addTexts } from '../dictionary.ts'

/** The list of keyboard shortcuts. */
export const shortcuts = addTexts({
  'keys.title': ['Atajos de teclado', 'Keyboard shortcuts'],
  'keys.on': ['Usar atajos de una sola letra', 'Use single-letter shortcuts'],
  'keys.search': ['Buscar', 'Search'],
  'keys.palette': ['Paleta de comandos', 'Command palette'],
  'keys.move': ['Moverse por la tabla', 'Move through the table'],
  'keys.open': ['Abrir los detalles', 'Open details'],
  'keys.review': ['Marcar o desmarcar para revisión', 'Mark or unmark for review'],
  'keys.discard': ['Descartar o restaurar', 'Discard or restore'],
  'keys.selectRange': ['Seleccionar hasta aquí', 'Select up to here'],
  'keys.reviewThis': ['Marcar para revisión y seguir', 'Mark for review and continue'],
  'keys.discardThis': ['Descartar y seguir', 'Discard and continue'],
  'keys.leaveThis': ['Dejar como está y seguir', 'Leave as it is and continue'],
  'keys.note': ['Escribir una nota', 'Write a note'],
  'keys.back': ['Volver al anterior', 'Back to the previous name'],
  'keys.space': ['Espacio', 'Space'],
  'keys.next': ['Detalles siguientes y anteriores', 'Next and previous details'],
  'keys.help': ['Esta ayuda', 'This help'],
})
