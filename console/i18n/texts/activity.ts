import { addTexts } from '../dictionary.ts'

/** What the account changed in the last day. */
export const activity = addTexts({
  'activity.explained': [
    'Los cambios de su cuenta en las últimas 24 horas. Deshacer devuelve los valores anteriores, a menos que alguien los haya cambiado después.',
    'The changes of your account in the last 24 hours. Undo restores the earlier values, unless someone has changed them since.',
  ],
  'activity.none': ['Su cuenta no cambió ningún dominio en las últimas 24 horas', 'Your account changed no domains in the last 24 hours'],
  'activity.what': ['Cambio', 'Change'],
})
