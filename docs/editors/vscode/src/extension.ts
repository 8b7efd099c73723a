// Starts `fullcount lsp` for .fcw files. What it knows comes from there.
import { ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const [command, ...args] = workspace.getConfiguration("fullcount").get<string[]>("command", ["fullcount", "lsp"]);
  if (command === undefined) {
    void window.showErrorMessage("`fullcount.command` is empty, so there is no language server to start.");
    return;
  }
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "fullcount" },
      { scheme: "untitled", language: "fullcount" },
    ],
    // what a file means depends on the files it imports, on the protections and on the configuration
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{*.fcw,fullcount.toml}") },
  };
  client = new LanguageClient("fullcount", "Fullcount", server, options);
  context.subscriptions.push(client);
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
