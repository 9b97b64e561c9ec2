import type { S3Client } from '@aws-sdk/client-s3'
import { persist, type Attempt, type Patience } from './attempts.ts'
import { createS3Client } from './client.ts'
import { translate } from './faults.ts'
import type { S3Location } from './location.ts'
import { fairSlots, SERVICE, type S3Options } from './options.ts'

/** Told of every operation that failed for good, before its caller is. */
export type ObserveFaults = (operation: string, error: Error) => void

/** Told of every attempt that begins; `number` counts from 1. */
export type ObserveAttempts = (operation: string, number: number) => void

export interface Address {
  readonly Bucket: string
  readonly Key: string
}

/** What all that is done in the store has in common. */
export interface Operations {
  readonly client: S3Client
  readonly location: S3Location
  /** @param name of the object, under the store's prefix */
  readonly addressOf: (name: string) => Address
  /** Turns whatever goes wrong into what a caller may see. */
  readonly told: <T>(operation: string, work: () => Promise<T>) => Promise<T>
  /** Several attempts, as long as `patience` says. */
  readonly attempts: <T>(
    operation: string,
    patience: Patience,
    work: (attempt: Attempt) => Promise<T>,
  ) => Promise<T>
  /** All of it: in line with others, several attempts, told. `bytes` that move allow for more time. */
  readonly operate: <T>(
    operation: string,
    bytes: number,
    work: (attempt: Attempt) => Promise<T>,
    client?: string,
  ) => Promise<T>
}

export function createOperations(
  location: S3Location,
  options: S3Options,
  onFault: ObserveFaults,
  onAttempt: ObserveAttempts,
): Operations {
  const client = createS3Client(location, options.requests + options.streams)
  const requests = fairSlots(options.requests, options.requestsPerClient, options)

  async function told<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const fault = translate(operation, error)
      onFault(operation, fault)
      throw fault
    }
  }

  const attempts: Operations['attempts'] = (operation, patience, work) =>
    persist(patience, (attempt) => {
      onAttempt(operation, attempt.number)
      return work(attempt)
    })

  const patienceFor = (bytes: number): Patience => ({
    ...options.patience,
    totalMs: options.patience.totalMs + (bytes / options.leastRate) * 1_000,
  })

  return {
    client,
    location,
    addressOf: (name) => ({ Bucket: location.bucket, Key: location.prefix + name }),
    told,
    attempts,
    operate: (operation, bytes, work, of = SERVICE) =>
      told(operation, () => requests.run(of, () => attempts(operation, patienceFor(bytes), work))),
  }
}
