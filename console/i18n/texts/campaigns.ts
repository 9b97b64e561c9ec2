import { addTexts } from '../dictionary.ts'

/** Groups of names that were registered together. */
export const campaigns = addTexts({
  'campaign.explained': [
    'Grupos de 4 o más nombres inscritos con menos de un día de diferencia que comparten algo raro: una forma de escribirse (* es una palabra y # un número), una palabra o un servidor. Un grupo dice que los nombres van juntos, no que sean maliciosos.',
    'Groups of 4 or more names that were registered within a day and share something rare: a way to be written (* is a word and # a number), a word or a server. A group says that names belong together, not that they are malicious.',
  ],
  'campaign.none': ['No se encontraron campañas', 'No campaigns found'],
  'campaign.noneText': [
    'En estos días nadie inscribió 4 nombres que compartan algo raro. Elija otros días, hasta 92.',
    'In these days nobody registered 4 names that share something rare. Choose other days, at most 92.',
  ],
  'campaign.skeleton': ['Forma de escribirse', 'Way to be written'],
  'campaign.names': ['{n} nombre | {n} nombres', '{n} name | {n} names'],
  'campaign.open': ['Abrir el nombre | Abrir los {n} nombres', 'Open the name | Open the {n} names'],
  'campaign.openLike': ['Abrir los de esta forma', 'Open those like this'],
})
