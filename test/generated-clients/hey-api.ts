/** What an application does with the client of @hey-api/openapi-ts: it has to compile without a cast. */
import { client } from './generated/hey-api/client.gen.ts'
import {
  deleteImage,
  listDomains,
  listImages,
  trashImage,
  updateImage,
  uploadImage,
  type Image,
} from './generated/hey-api/index.ts'

client.setConfig({ baseUrl: 'http://127.0.0.1:8080', auth: 'key' })

export async function upload(image: string, ip: string): Promise<string> {
  const { data, error } = await uploadImage({
    body: { image, info: { name: 'foto.jpg', mime: 'image/jpeg', ip } },
  })
  if (error !== undefined) throw new Error(`${error.code}: ${error.msg}`)
  const status: 200 = data.status
  return `${data.hash} ${status}`
}

export async function list(): Promise<readonly Image[]> {
  const { data, response } = await listImages({ query: { mime: 'image/jpeg', order: 'size', limit: 10 } })
  console.log(response.headers.get('Link'))
  return data?.data ?? []
}

export async function remove(hash: string): Promise<boolean> {
  const { error } = await deleteImage({ query: { hash } })
  return error === undefined || error.code === 'image_not_found'
}

export async function search(text: string): Promise<readonly string[]> {
  const { data } = await listDomains({ query: { search: text } })
  return data?.data.flat().map(({ name }) => name) ?? []
}

export async function restore(hash: string): Promise<void> {
  await trashImage({ body: { hash, restore: true } })
  await updateImage({ body: { hash, tags: ['portada'], meta: { sku: 1 } } })
}

// @ts-expect-error An image has a file name.
void uploadImage({ body: { image: '', info: { mime: 'image/png', ip: '' } } })
// @ts-expect-error A list has no such order.
void listImages({ query: { order: 'color' } })
