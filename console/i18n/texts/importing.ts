import { inBoth } from '../in-both.ts'
import { addTexts } from '../texts.ts'

/** Lists of the registry. */
export const importing = inBoth(
  {
    'import.drop': 'Suelte aquí una lista del registro',
    'import.kinds':
      'Inscripciones en CSV (nombre y fecha), o eliminados con un nombre por línea. También .gz.',
    'import.pick': 'Elegir un archivo',
    'import.tooLarge': 'El archivo es demasiado grande para la página: use catalejo import',
    'import.registrations': 'Inscripciones',
    'import.deletions': 'Eliminados',
    'import.comparing': 'Comparando con lo registrado…',
    'import.tooMany': 'Son demasiados para comparar antes de guardar.',
    'import.new': 'nuevos',
    'import.changed': 'cambian',
    'import.same': 'iguales',
    'import.bad.one': '{n} línea con problemas',
    'import.bad.other': '{n} líneas con problemas',
    'import.stored': '{n} de {all} guardados',
    'import.store': 'Guardar',
    'import.stop': 'Detener',
    'import.one.new': 'nuevo',
    'import.one.changed': 'cambia',
    'import.one.same': 'igual',
    'import.ofDays':
      'La lista se comparó con lo registrado en sus días: algunos de los nuevos pueden estar ya, con otra fecha.',
    'import.another': 'Importar otra lista',
    'import.preview': 'Lo que cambia',
    'import.refused': 'Líneas que no se guardan',
    'import.line': 'Línea {n}',
    'import.unreadable': 'No se entiende',
  },
  {
    'import.drop': 'Drop a list of the registry here',
    'import.kinds': 'Registrations as CSV (name and date), or deletions with one name a line. Also .gz.',
    'import.pick': 'Pick a file',
    'import.tooLarge': 'The file is too large for the page: use catalejo import',
    'import.registrations': 'Registrations',
    'import.deletions': 'Deletions',
    'import.comparing': 'Comparing with what is recorded…',
    'import.tooMany': 'Too many to compare before storing.',
    'import.new': 'new',
    'import.changed': 'change',
    'import.same': 'the same',
    'import.bad.one': '{n} faulty line',
    'import.bad.other': '{n} faulty lines',
    'import.stored': '{n} of {all} stored',
    'import.store': 'Store',
    'import.stop': 'Stop',
    'import.one.new': 'new',
    'import.one.changed': 'changes',
    'import.one.same': 'the same',
    'import.ofDays':
      'The list was compared with what is recorded of its days: some of the new ones may be there already, with another date.',
    'import.another': 'Import another list',
    'import.preview': 'What changes',
    'import.refused': 'Lines that are not stored',
    'import.line': 'Line {n}',
    'import.unreadable': 'Not understood',
  },
)

addTexts(importing)
