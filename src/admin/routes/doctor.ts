import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { doctorAnswer } from '../schemas.ts'

export interface DoctorOptions {
  /** Looks at the instance. */
  readonly diagnose: () => Promise<readonly object[]>
}

/** Registers the findings of `catalejo doctor`, from inside the service. */
export function doctorRoute(app: HttpServer, shared: EndpointShared, { diagnose }: DoctorOptions): void {
  /** Calls that overlap share one look. */
  let running: Promise<readonly object[]> | undefined
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['GET'],
    path: '/api/v1/admin/doctor',
    parameters: {},
    document: {
      operation: 'diagnoseService',
      summary: 'Diagnose the service',
      description:
        'Returns the findings of `catalejo doctor`. Takes seconds, more with a large SQLite database.',
      answers: { 200: doctorAnswer },
    },
    async handle() {
      running ??= diagnose().finally(() => (running = undefined))
      return { status: 200, data: await running }
    },
  })
}
