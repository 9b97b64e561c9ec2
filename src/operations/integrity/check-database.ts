import * as queries from './queries.ts'
import { PAGE, rowsOf } from './pages.ts'
import { domainFault, imageFault } from './rows.ts'
import type { Survey } from './survey.ts'

/** What the engine finds wrong with itself, then each row: is it one that the service would have written? */
export async function checkDatabase(survey: Survey): Promise<void> {
  survey.progress.begin('database')
  for (const fault of await survey.database.check()) survey.distrust(fault)
  await survey.through('keys', () => checkKeys(survey))
  await survey.through('domains', () => checkDomains(survey))
  await survey.through('images', () => checkImages(survey))
}

async function checkKeys(survey: Survey): Promise<void> {
  for (const { id } of await survey.database.scanner.all(queries.keysWithoutAccount())) {
    survey.note(`key ${id}: there is no such account`)
  }
}

async function checkDomains(survey: Survey): Promise<void> {
  await survey.begin('domains', 'domains')
  const domains = rowsOf(survey.database, queries.domainsAfter('', PAGE), ({ name }) =>
    queries.domainsAfter(name, PAGE),
  )
  for await (const row of domains) {
    survey.note(domainFault(row))
    survey.checked.domains++
    survey.progress.add(1)
  }
}

async function checkImages(survey: Survey): Promise<void> {
  await survey.begin('images', 'images')
  const images = rowsOf(survey.database, queries.imagesAfter(0, '', PAGE), ({ account_id, hash }) =>
    queries.imagesAfter(account_id, hash, PAGE),
  )
  for await (const row of images) {
    survey.note(imageFault(row))
    survey.checked.images++
    survey.progress.add(1)
  }
}
