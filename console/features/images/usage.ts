import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { Operations } from '../../api/schema.ts'
import { DAYS } from './upload-days.ts'

export type ImageStats = Operations['GET /api/v1/imagestore/stats']['answer']

/** The usage of the application. */
export function useUsage() {
  return useQuery({
    queryKey: ['images', 'stats'],
    queryFn: async ({ signal }) =>
      (await callApi('GET /api/v1/imagestore/stats', { query: { days: DAYS }, signal })).data,
  })
}
