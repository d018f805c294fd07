//! A real editor, where there is one: Neovim, without a screen.

use std::process::Command;

use super::client::write;

/// Opens a file with a mistake, waits for what is told of it, asks for a definition, renames, and writes what came of it.
const SCRIPT: &str = r#"
local out = {}
local function wait(what, test)
  if not vim.wait(120000, test, 50) then
    table.insert(out, 'never: ' .. what)
  end
end
vim.api.nvim_command('edit main.tf')
vim.bo.filetype = 'terraform'
local config = { name = 'entail', cmd = { vim.env.ENTAIL, 'lsp' }, root_dir = vim.fn.getcwd() }
local id
if vim.lsp.start then
  id = vim.lsp.start(config)
else
  id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
end
wait('attached', function() return id and vim.lsp.buf_is_attached(0, id) end)
wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
for _, it in ipairs(vim.diagnostic.get(0)) do
  table.insert(out, 'told ' .. it.lnum .. ' ' .. it.code)
end
local function ask(method, line, character, more)
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = line, character = character } }
  for k, v in pairs(more or {}) do params[k] = v end
  local answers = vim.lsp.buf_request_sync(0, method, params, 120000) or {}
  for _, it in pairs(answers) do return it.result end
end
local found = ask('textDocument/definition', 4, 15)
table.insert(out, 'defined ' .. found[1].range.start.line)
local edit = ask('textDocument/rename', 4, 15, { newName = 'title' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
table.insert(out, 'renamed ' .. vim.api.nvim_buf_get_lines(0, 0, 1, false)[1])
vim.fn.writefile(out, 'out.txt')
vim.api.nvim_command('qall!')
"#;

#[test]
fn neovim_is_served() {
    let version = Command::new("nvim").arg("--version").output();
    let Some(version) = version.ok().filter(|it| it.status.success()) else {
        eprintln!("SKIPPED: there is no nvim here, so that no real editor was served");
        return;
    };
    let version =
        String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or_default().to_owned();
    let folder = tempfile::tempdir().expect("a folder can be made");
    write(
        folder.path(),
        "main.tf",
        "variable \"name\" {\n  type = string\n}\noutput \"o\" {\n  value = var.name\n  sensitve = true\n}\n",
    );
    write(folder.path(), "check.lua", SCRIPT);
    let status = Command::new("nvim")
        .args(["--headless", "--clean", "-c", "luafile check.lua", "-c", "qall!"])
        .current_dir(folder.path())
        .env("ENTAIL", env!("CARGO_BIN_EXE_entail"))
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("HOME", folder.path())
        .status()
        .expect("nvim starts");
    let out = std::fs::read_to_string(folder.path().join("out.txt")).unwrap_or_default();
    let expected = "told 5 unsupported-argument\ndefined 0\nrenamed variable \"title\" {\n";
    assert_eq!(out, expected, "{version}: {status}");
}
