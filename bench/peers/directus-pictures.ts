import { BOX } from '../lib/renditions.ts'
import type { Directus } from './directus.ts'

const UPLOAD_MS = 30_000

/** Uploads a picture to Directus. @returns its id */
export async function uploadPicture(
  { url, token }: Directus,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([bytes], { type: 'image/jpeg' }), 'foto.jpg')
  const response = await fetch(`${url}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
    signal: AbortSignal.timeout(UPLOAD_MS),
  })
  if (response.status !== 200) throw new Error(`${response.status}: ${(await response.text()).slice(0, 300)}`)
  const answer: { data: { id: string } } = JSON.parse(await response.text())
  return answer.data.id
}

/** Differs in each call, so that Directus cannot serve from its cache. Larger than any picture of the box's width. */
let height = BOX

/** Returns the URL of a landscape picture resized to the width of the box. */
export function assetUrl({ url, token }: Directus, id: string, query: string): string {
  height = height < 6_000 ? height + 1 : BOX
  return `${url}/assets/${id}?width=${BOX}&height=${height}&fit=inside&${query}&access_token=${token}`
}
