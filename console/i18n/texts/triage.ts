import { addTexts } from '../dictionary.ts'

/** One name at a time. */
export const triage = addTexts({
  'triage.done': ['No queda nada por decidir', 'Nothing left to decide'],
  'triage.doneText': [
    'Todos los nombres de esta vista están decididos, o los tiene otra persona.',
    'All names in this view are decided, or held by someone else.',
  ],
  'triage.more': ['Buscar más', 'Look for more'],
  'triage.byInterestHelp': [
    'Primero los nombres que se parecen a los que el grupo marca para revisión. No oculta ninguno.',
    'First the names that resemble those that the group marks for review. It hides none.',
  ],
  'triage.space': ['espacio', 'space'],
  'triage.left': ['queda {n} | quedan {n}', '{n} left | {n} left'],
  'triage.colleagues': ['También trabajan en esta vista', 'Also at work on this view'],
  'triage.holds': ['{account}: {n}', '{account}: {n}'],
  'triage.markedBy': ['{mark}: {account}, {date}', '{mark}: {account}, {date}'],
  'triage.serversBefore': ['Hasta {until}:', 'Until {until}:'],
  'triage.expired': [
    'Su turno con este nombre venció: otra persona puede decidir sobre él.',
    'Your turn with this name ran out: someone else may decide on it.',
  ],
  'triage.taken': ['Otra persona decidió sobre este nombre, o lo tiene ahora.', 'Someone else decided on this name, or holds it now.'],
  'triage.held': ['{account} tiene ahora este nombre, hasta las {until}.', '{account} holds this name now, until {until}.'],
  'triage.decided': ['{account} ya decidió sobre este nombre.', '{account} has decided on this name.'],
})
