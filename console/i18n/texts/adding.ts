import { addTexts, type Texts } from '../dictionary.ts'

/** Adding names by typing or pasting them. */
export const adding = {
  'add.names': ['Nombres', 'Names'],
  'add.placeholder': ['casa.cl\nñandú.cl\n…', 'casa.cl\nñandú.cl\n…'],
  'add.hint': [
    'Uno por línea, o separados por espacios o comas. Hasta {n} a la vez.',
    'One per line, or separated by spaces or commas. Up to {n} at a time.',
  ],
  'add.facts': ['Datos de los nombres nuevos', 'Details of the new names'],
  'add.date': ['Fecha de inscripción', 'Registration date'],
  'add.agent': ['Agente', 'Agent'],
  'add.agentSelf': ['Su cuenta', 'Your account'],
  'add.add.one': ['Agregar {n} nombre', 'Add {n} name'],
  'add.add.other': ['Agregar {n} nombres', 'Add {n} names'],
  'add.addNone': ['Agregar', 'Add'],
  'add.clear': ['Vaciar', 'Clear'],
  'add.tooMany': [
    'Son más de {n} nombres: las listas largas se importan como archivo.',
    'These are more than {n} names: import long lists as a file.',
  ],
  'add.empty': [
    'Aquí se ve qué nombres son nuevos, cuáles ya están guardados y cuáles no son válidos.',
    'This shows which names are new, which are recorded already, and which are not valid.',
  ],
  'add.new.one': ['{n} nuevo', '{n} new'],
  'add.new.other': ['{n} nuevos', '{n} new'],
  'add.recorded.one': ['{n} ya guardado', '{n} recorded already'],
  'add.recorded.other': ['{n} ya guardados', '{n} recorded already'],
  'add.invalid.one': ['{n} no válido', '{n} not valid'],
  'add.invalid.other': ['{n} no válidos', '{n} not valid'],
  'add.repeated.one': ['{n} repetido', '{n} duplicate'],
  'add.repeated.other': ['{n} repetidos', '{n} duplicates'],
  'add.asking.one': ['falta consultar {n}', '{n} still to look up'],
  'add.asking.other': ['falta consultar {n}', '{n} still to look up'],
  'add.unknown': [
    'No se sabe si algunos nombres ya están guardados: {reason}',
    'Whether some names are recorded is not known: {reason}',
  ],
  'add.isDate': [
    'Es una fecha. Para usarla de nombre, agregue .cl',
    'This is a date. To use it as a name, add .cl',
  ],
  'add.isNew': ['Nuevo', 'New'],
  'add.isRecorded': ['ya guardado', 'recorded already'],
  'add.adding': ['Agregando {what}…', 'Adding {what}…'],
  'add.added.one': ['{n} dominio agregado', '{n} domain added'],
  'add.added.other': ['{n} dominios agregados', '{n} domains added'],
  'add.failed': ['No se pudo agregar {what}: {reason}', 'Could not add {what}: {reason}'],
  'add.refused': ['Sin agregar: {what} ({reason})', 'Not added: {what} ({reason})'],
  'add.takenMeanwhile': ['alguien lo registró mientras tanto', 'someone recorded it in the meantime'],
  'add.takenBack.one': [
    '{n} nombre descartado, como si no se hubiera agregado.',
    '{n} name discarded, as if it had not been added.',
  ],
  'add.takenBack.other': [
    '{n} nombres descartados, como si no se hubieran agregado.',
    '{n} names discarded, as if they had not been added.',
  ],
  'add.notTakenBack.one': [
    '{n} queda: estaba guardado o alguien lo cambió.',
    '{n} stays: it was recorded or someone changed it.',
  ],
  'add.notTakenBack.other': [
    '{n} quedan: estaban guardados o alguien los cambió.',
    '{n} stay: they were recorded or someone changed them.',
  ],
} as const satisfies Texts

addTexts(adding)
