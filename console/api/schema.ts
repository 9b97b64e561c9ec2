// Generated from openapi.json by npm run openapi. Do not edit.

export interface Operations {
  'POST /api/v1/domainwatch/add': {
    query: {  }
    body: { data: ({ domain: string; length: number; reserve: number; status: number; date_reg: string; agent?: string })[] | string }
    answer: { status: 200; count: number }
  }
  'POST /api/v1/domainwatch/update': {
    query: {  }
    body: { data: ({ domain: string; revision?: number; discarded?: number; reserve?: number; status?: number; agent?: string })[] | string }
    answer: { status: 200; count: number }
  }
  'GET /api/v1/domainwatch/list': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; last_register?: number; last_deleted?: number; sort?: "asc" | "desc"; limit?: number; cursor?: string }
    answer: { status: 200; count: number; query: string; data: (({ name: string; length: number; agent: string; status: number; reserved: number; revision: number; discarded: number; date_reg: string; date_mod: string })[])[] }
  }
  'GET /api/v1/domainwatch/export': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; last_register?: number; last_deleted?: number; sort?: "asc" | "desc"; format?: "csv" | "ndjson" }
    answer: unknown
  }
  'GET /api/v1/domainwatch/similar': {
    query: { domain?: string; limit?: number }
    answer: { status: 200; count: number; query: string; data: (({ name: string; length: number; agent: string; status: number; reserved: number; revision: number; discarded: number; date_reg: string; date_mod: string; reason: "accent" | "homoglyph" | "hyphenation" | "transposition" | "repetition" | "plural" | "vowel-swap" | "replacement" | "bitsquatting" | "omission" | "insertion" | "addition" | "word" | "subdomain"; detail: string; score: number })[])[] }
  }
  'GET /api/v1/domainwatch/stats': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; agents?: number }
    answer: { status: 200; from: string; to: string; days: { date: (string)[]; registered: (number)[]; deleted: (number)[] }; lengths: { length: (number)[]; count: (number)[] }; agents: { agent: (string)[]; count: (number)[]; others: number }; totals: { records: number; bought: number; deleted: number; reserved: number; revision: number; discarded: number }; feeds: { account: (string)[]; last_add: (string | null)[] } }
  }
  'GET /api/v1/domainwatch/dns': {
    query: { domain?: string }
    answer: { status: 200; domain: string; dns: (string)[] }
  }
  'POST /api/v1/domainwatch/dns': {
    query: {  }
    body: { data: (string)[] | string }
    answer: unknown
  }
  'GET /api/v1/domainwatch/events': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; last_event_id?: string; format?: "sse" | "atom"; limit?: number }
    answer: unknown
  }
  'POST /api/v1/domainwatch/watches': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; similar?: string; name?: string; changes?: "new" | "all"; url?: string; atom?: string }
    body: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; similar?: string; name?: string; changes?: "new" | "all"; url?: string; atom?: string }
    answer: { status: 200; id: string; secret: string | null; atom: string | null }
  }
  'GET /api/v1/domainwatch/watches': {
    query: {  }
    answer: { status: 200; count: number; data: ({ id: string; name: string; filters: Record<string, string>; changes: "new" | "all"; created: string; url: string | null; atom: number; state: "active" | "dead"; pending: number; attempts: number; next_attempt: string | null; last_delivery: string | null; last_error: string | null; last_error_at: string | null })[] }
  }
  'DELETE /api/v1/domainwatch/watches': {
    query: { id?: string }
    answer: { status: 200; id: string }
  }
  'POST /api/v1/domainwatch/watches/test': {
    query: { id?: string }
    body: { id?: string }
    answer: { status: 200; id: string; delivered: number; code: number | null; error: string | null }
  }
  'POST /api/v1/imagestore/upload': {
    query: {  }
    body: { image: string; info: { name: string; mime: string; ip: string } | string }
    answer: { status: 200; hash: string; dhash: string; size: number; width: number; height: number }
  }
  'GET /api/v1/imagestore/get': {
    query: { hash?: string }
    answer: { status: 200; name: string; hash: string; mime: string; width: number; height: number; size: number; date: number }
  }
  'POST /api/v1/imagestore/delete': {
    query: { hash?: string }
    body: { hash?: string }
    answer: { status: 200; hash: string }
  }
  'DELETE /api/v1/imagestore/delete': {
    query: { hash?: string }
    answer: { status: 200; hash: string }
  }
  'GET /api/v1/imagestore/list': {
    query: { search?: string; limit?: number; cursor?: string }
    answer: { status: 200; count: number; data: ({ name: string; hash: string; dhash: string; mime: string; width: number; height: number; size: number; date: number })[] }
  }
}
