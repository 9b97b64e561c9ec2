import { addTexts } from '../dictionary.ts'

/** Rules that hide and tag records. */
export const rules = addTexts({
  'rule.explained': [
    'Las reglas son del grupo. Lo que una regla oculta no llega al triaje ni a los mensajes de las alertas, y sigue en Dominios. Lo que una regla etiqueta recibe su etiqueta cuando se guarda o cambia de estado. Quitar una regla muestra de nuevo lo que ocultaba y deja las etiquetas puestas.',
    'Rules belong to the group. What a rule hides reaches neither triage nor messages of alerts, and stays in Domains. What a rule tags gets its tag when it is recorded or changes state. Removing a rule shows what it hid again and leaves the tags.',
  ],
  'rule.none': ['Todavía no hay reglas', 'No rules yet'],
  'rule.noneText': [
    'Filtre en Dominios y elija «Ocultar estos» o «Etiquetar estos» en Más, o cree una aquí.',
    'Filter in Domains and choose “Hide these” or “Tag these” under More, or create one here.',
  ],
  'rule.new': ['Nueva regla', 'New rule'],
  'rule.saving': ['Guardando «{name}»…', 'Saving “{name}”…'],
  'rule.saved': ['Regla «{name}» guardada', 'Rule “{name}” saved'],
  'rule.pausedNow': ['Regla «{name}» en pausa', 'Rule “{name}” paused'],
  'rule.resumed': ['Regla «{name}» reanudada', 'Rule “{name}” resumed'],
  'rule.remove': ['Quitar', 'Remove'],
  'rule.removed': ['Regla «{name}» quitada', 'Rule “{name}” removed'],
  'rule.restored': ['Regla «{name}» creada de nuevo', 'Rule “{name}” created again'],
  'rule.failed': ['No se pudo cambiar la regla: {reason}', 'Could not change the rule: {reason}'],
  'rule.hides': ['Oculta', 'Hides'],
  'rule.tags': ['Etiqueta con «{tag}»', 'Tags with “{tag}”'],
  'rule.by': ['La creó {account}', 'Created by {account}'],
  'rule.name': ['Nombre de la regla', 'Rule name'],
  'rule.action': ['Qué hace', 'What it does'],
  'rule.action.hide': ['Ocultar', 'Hide'],
  'rule.action.tag': ['Etiquetar', 'Tag'],
  'rule.filtersHint': ['Con la sintaxis de la búsqueda: dígitos:sí largo:12', 'In the syntax of the search box: digits:yes length:12'],
  'rule.toPreview': ['Escriba filtros para ver qué haría la regla.', 'Enter filters to see what the rule would do.'],
  'rule.would.hide': [
    'Ocultaría {n}. Guardados o liberados en los últimos 30 días: {recent}; marcados para revisión: {review}.',
    'Would hide {n}: {recent} recorded or freed in the last 30 days, {review} marked for review.',
  ],
  'rule.would.tag': [
    'Coincidencias de hoy: {n}. Guardados o liberados en los últimos 30 días: {recent}; marcados para revisión: {review}. La regla etiqueta los que lleguen o cambien de estado.',
    'Matches {n} today: {recent} recorded or freed in the last 30 days, {review} marked for review. The rule tags those that arrive or change state.',
  ],
})
