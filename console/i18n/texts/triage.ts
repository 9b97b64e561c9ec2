import { addTexts, inBoth } from '../dictionary.ts'

/** One name at a time. */
export const triage = inBoth(
  {
    'triage.done': 'No queda nada por decidir',
    'triage.doneText': 'Todos los nombres de esta vista están decididos, o los tiene otra persona.',
    'triage.more': 'Buscar más',
    'triage.space': 'espacio',
    'triage.left.one': 'queda {n}',
    'triage.left.other': 'quedan {n}',
    'triage.colleagues': 'También trabajan en esta vista',
    'triage.holds': '{account}: {n}',
    'triage.markedBy': '{mark}: {account}, {date}',
    'triage.serversBefore': 'Hasta {until}:',
    'triage.expired': 'Su turno con este nombre venció: otra persona puede decidir sobre él.',
    'triage.taken': 'Otra persona decidió sobre este nombre, o lo tiene ahora.',
    'triage.held': '{account} tiene ahora este nombre, hasta las {until}.',
    'triage.decided': '{account} ya decidió sobre este nombre.',
    'triage.nextName': 'Siguiente',
  },
  {
    'triage.done': 'Nothing left to decide',
    'triage.doneText': 'All names in this view are decided, or held by someone else.',
    'triage.more': 'Look for more',
    'triage.space': 'space',
    'triage.left.one': '{n} left',
    'triage.left.other': '{n} left',
    'triage.colleagues': 'Also at work on this view',
    'triage.holds': '{account}: {n}',
    'triage.markedBy': '{mark}: {account}, {date}',
    'triage.serversBefore': 'Until {until}:',
    'triage.expired': 'Your turn with this name ran out: someone else may decide on it.',
    'triage.taken': 'Someone else decided on this name, or holds it now.',
    'triage.held': '{account} holds this name now, until {until}.',
    'triage.decided': '{account} has decided on this name.',
    'triage.nextName': 'Next',
  },
)

addTexts(triage)
