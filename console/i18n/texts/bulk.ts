import { addTexts } from '../dictionary.ts'

/** Changes of many records. */
export const bulk = addTexts({
  'bulk.view': ['toda la vista', 'the whole view'],
  'bulk.selectView': ['Seleccionar toda la vista', 'Select the whole view'],
  'bulk.selectAll': ['Seleccionar los {n}', 'Select all {n}'],
  'bulk.progress': ['{label} {n} de {all}', '{label} {n} of {all}'],
  'bulk.stopped': ['Quedó {n} sin cambiar. | Quedaron {n} sin cambiar.', '{n} was left unchanged. | {n} were left unchanged.'],
  'bulk.others': [
    'A {n} lo cambió alguien mientras tanto, y quedó como está. | A {n} los cambió alguien mientras tanto, y quedaron como están.',
    'Someone changed {n} in the meantime; it was left unchanged. | Someone changed {n} in the meantime; they were left unchanged.',
  ],
  'bulk.waiting': ['{label} Espera a que termine otro trabajo.', '{label} It waits for another job to end.'],
  'bulk.goesOn': [
    '{label} El servicio sigue con esto, pero no se sabe cuánto lleva: {reason}',
    '{label} The service continues, but its progress is unknown: {reason}',
  ],
  'bulk.recount': ['Cambió lo que coincide', 'Other domains match now'],
  'bulk.recountText': [
    'Ahora coincide {n} dominio. Todavía no se cambió ninguno. | Ahora coinciden {n} dominios. Todavía no se cambió ninguno.',
    '{n} domain matches now. None has been changed yet. | {n} domains match now. None has been changed yet.',
  ],
  'bulk.changeAll': ['Cambiar los {n}', 'Change all {n}'],
  'bulk.tags': ['Etiquetar', 'Tag'],
  'bulk.addTags': ['Etiquetas que se agregan', 'Tags to add'],
  'bulk.removeTags': ['Etiquetas que se quitan', 'Tags to remove'],
  'bulk.tagsHint': ['Separadas por comas', 'Separated by commas'],
  'bulk.badTags': ['Cada etiqueta lleva de 1 a 30 letras, dígitos o guiones; hasta 10.', 'Each tag has 1 to 30 letters, digits or hyphens; up to 10.'],
  'bulk.note': ['Anotar', 'Note'],
  'bulk.noteText': ['Nota para todos, en lugar de la que tengan', 'Note for all, which replaces theirs'],
  'bulk.apply': ['Aplicar a todos', 'Apply to all'],
  'bulk.noteHint': ['Vacía, quita la nota.', 'Leave it empty to remove the note.'],
  'domains.done.tag': ['{n} dominio con otras etiquetas | {n} dominios con otras etiquetas', '{n} domain tagged | {n} domains tagged'],
  'domains.doing.tag': ['Cambiando las etiquetas de {what}…', 'Changing the tags of {what}…'],
  'domains.failed.tag': ['No se pudo cambiar las etiquetas de {what}: {reason}', 'Could not change the tags of {what}: {reason}'],
  'domains.done.note': ['{n} dominio con otra nota | {n} dominios con otra nota', 'Note of {n} domain changed | Notes of {n} domains changed'],
  'domains.doing.note': ['Cambiando la nota de {what}…', 'Changing the note of {what}…'],
  'domains.failed.note': ['No se pudo cambiar la nota de {what}: {reason}', 'Could not change the note of {what}: {reason}'],
})
