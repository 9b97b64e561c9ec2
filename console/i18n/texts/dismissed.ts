import { addTexts } from '../dictionary.ts'

/** Names whose discarded records were removed. */
export const dismissed = addTexts({
  'dismissed.search': ['Buscar en los descartados', 'Search dismissed names'],
  'dismissed.explained': [
    'Un nombre descartado se borra a los 7 días y queda aquí: las listas de NIC Chile no lo vuelven a guardar mientras no traigan una inscripción o una eliminación nueva. Si lo olvida, la próxima lista que lo traiga lo guarda.',
    'A discarded name is deleted after 7 days and stays here: lists of the registry do not record it again unless they have a new registration or deletion. If you forget it, the next list that has it records it.',
  ],
  'dismissed.none': ['Todavía no hay nombres descartados y borrados', 'No discarded names have been deleted yet'],
  'dismissed.noMatch': ['Ningún nombre descartado coincide', 'No matching dismissed names'],
  'dismissed.by': ['Lo descartó', 'Discarded by'],
  'dismissed.state': ['Estado de entonces', 'State then'],
  'dismissed.forget': ['Olvidar', 'Forget'],
  'dismissed.forgotten': ['{name} olvidado: la próxima lista que lo traiga lo guarda', '{name} forgotten: the next list that has it records it'],
})
