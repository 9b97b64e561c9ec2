/** What is used of a package in this folder, which is not installed everywhere. */
declare module '@sparticuz/chromium' {
  const chromium: { executablePath(): Promise<string> }
  export default chromium
}
