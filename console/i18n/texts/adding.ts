import { addTexts } from '../dictionary.ts'

/** Adding names by typing or pasting them. */
export const adding = addTexts({
  'add.names': ['Nombres', 'Names'],
  'add.placeholder': ['casa.cl\nñandú.cl\n…', 'casa.cl\nñandú.cl\n…'],
  'add.hint': ['Uno por línea, o separados por espacios o comas. Hasta {n} a la vez.', 'One per line, or separated by spaces or commas. Up to {n} at a time.'],
  'add.facts': ['Datos de los nombres nuevos', 'Details of the new names'],
  'add.date': ['Fecha de inscripción', 'Registration date'],
  'add.agentSelf': ['Su cuenta', 'Your account'],
  'add.add': ['Agregar {n} nombre | Agregar {n} nombres', 'Add {n} name | Add {n} names'],
  'add.addNone': ['Agregar', 'Add'],
  'add.clear': ['Vaciar', 'Clear'],
  'add.tooMany': ['Son más de {n} nombres: las listas largas se importan como archivo.', 'These are more than {n} names: import long lists as a file.'],
  'add.empty': [
    'Aquí se ve qué nombres son nuevos, cuáles ya están guardados y cuáles no son válidos.',
    'This shows which names are new, which are recorded already, and which are not valid.',
  ],
  'add.new': ['{n} nuevo | {n} nuevos', '{n} new | {n} new'],
  'add.recorded': ['{n} ya guardado | {n} ya guardados', '{n} recorded already | {n} recorded already'],
  'add.invalid': ['{n} no válido | {n} no válidos', '{n} not valid | {n} not valid'],
  'add.repeated': ['{n} repetido | {n} repetidos', '{n} duplicate | {n} duplicates'],
  'add.asking': ['falta consultar {n} | falta consultar {n}', '{n} still to look up | {n} still to look up'],
  'add.unknown': ['No se sabe si algunos nombres ya están guardados: {reason}', 'Whether some names are recorded is not known: {reason}'],
  'add.isNew': ['Nuevo', 'New'],
  'add.isRecorded': ['ya guardado', 'recorded already'],
  'add.adding': ['Agregando {what}…', 'Adding {what}…'],
  'add.added': ['{n} dominio agregado | {n} dominios agregados', '{n} domain added | {n} domains added'],
  'add.failed': ['No se pudo agregar {what}: {reason}', 'Could not add {what}: {reason}'],
  'add.refused': ['Sin agregar: {what} ({reason})', 'Not added: {what} ({reason})'],
  'add.takenMeanwhile': ['alguien lo registró mientras tanto', 'someone recorded it in the meantime'],
  'add.takenBack': [
    '{n} nombre descartado, como si no se hubiera agregado. | {n} nombres descartados, como si no se hubieran agregado.',
    '{n} name discarded, as if it had not been added. | {n} names discarded, as if they had not been added.',
  ],
  'add.notTakenBack': [
    '{n} queda: estaba guardado o alguien lo cambió. | {n} quedan: estaban guardados o alguien los cambió.',
    '{n} stays: it was recorded or someone changed it. | {n} stay: they were recorded or someone changed them.',
  ],
  'add.reason.suffix': ['No es un nombre bajo .cl', 'Not a name under .cl'],
  'add.reason.letters': ['Tiene caracteres no permitidos en un dominio .cl', 'It has characters not allowed in a .cl domain'],
  'add.reason.hyphen': [
    'El guion no puede ir al principio, al final, ni en la 3.ª y la 4.ª posición a la vez',
    'A hyphen cannot be first, last, or in both the 3rd and 4th position',
  ],
  'add.reason.length': ['El nombre es demasiado largo', 'The name is too long'],
})
