// SPDX-License-Identifier: GPL-2.0-or-later
// catalogue-pages man|journal|ids: fills the catalogue of findings into a page, while building.
// Reads the page from stdin and writes it to stdout. A line "@FINDINGS:PART@" of a man page in
// scdoc's format becomes that part; PART is machine, adapter, surroundings or answer. A line
// "@FINDINGS@" of a journal catalog becomes all parts. With "ids" it reads nothing and lists each
// id with its MESSAGE_ID, for checks.
#include <array>
#include <cctype>
#include <iostream>
#include <optional>
#include <string>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

constexpr std::array kParts{
    std::pair{"machine", Subject::Machine}, std::pair{"adapter", Subject::Adapter},
    std::pair{"surroundings", Subject::Surroundings}, std::pair{"answer", Subject::Answer}};

const char* whose(Actor actor) {
  switch (actor) {
    case Actor::Agent:
      return "the agent goes on by itself";
    case Actor::Guest:
      return "for the administrator of this guest";
    case Actor::Image:
      return "for the maker of the image";
    case Actor::Host:
      break;
  }
  return "for the vSphere administrator";
}

// Shows {netdev} in capitals, between two `mark`s.
std::string with_names_shown(std::string_view text, const char* mark) {
  std::string result;
  bool name = false;
  for (const char letter : text) {
    if (letter == '{' || letter == '}') {
      name = letter == '{';
      result += mark;
    } else {
      result += name ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    }
  }
  return result;
}

// Sentences of Subject::Answer have no full stop.
std::string sentence(std::string text) {
  if (text.empty() || text.back() == '.') return text;
  return text + ".";
}

std::string remedy_of(const CatalogueEntry& entry) {
  return std::string{entry.remedy_in_pages.empty() ? entry.remedy : entry.remedy_in_pages};
}

// `commands` between backquotes are bold in scdoc, and a star in them stays a star.
std::string for_scdoc(std::string_view text) {
  std::string result;
  for (const char letter : with_names_shown(text, "_")) {
    if (letter == '*') result += '\\';
    result += letter == '`' ? '*' : letter;
  }
  return result;
}

void write_man(Subject subject) {
  auto before = FindingId::Other;
  for (const CatalogueEntry& entry : catalogue(subject)) {
    if (entry.id != before) std::cout << "*" << entry.name << "*\n";
    before = entry.id;
    std::cout << "\t" << sentence(for_scdoc(entry.summary)) << " "
              << sentence(for_scdoc(remedy_of(entry))) << " (" << to_string(entry.severity) << "; "
              << whose(entry.actor) << ")\n\n";
  }
}

void write_wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 76;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = cut(text, ' ');
    if (column > 0) std::cout << (column + word.size() >= kWidth ? "\n" : " ");
    column = (column > 0 && column + word.size() >= kWidth ? 0 : column) + word.size() + 1;
    std::cout << word;
  }
  std::cout << "\n";
}

void write_journal() {
  auto before = FindingId::Other;
  for (const Subject subject : {Subject::Machine, Subject::Adapter})
    for (const CatalogueEntry& entry : catalogue(subject)) {
      if (entry.id != before)
        std::cout << (before == FindingId::Other ? "" : "\n") << "-- " << entry.message_id
                  << "\nSubject: PVRDMA finding " << entry.name
                  << "\nDefined-By: pvrdma-agent\nDocumentation: man:pvrdma-agentctl(1)\n";
      before = entry.id;
      std::cout << "\n";
      write_wrapped(sentence(with_names_shown(entry.summary, "")));
      std::cout << "\n";
      write_wrapped(sentence(with_names_shown(remedy_of(entry), "")) + " (" + whose(entry.actor) +
                    ")");
    }
}

void write_ids() {
  auto before = FindingId::Other;
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject)) {
      if (entry.id != before) std::cout << entry.name << " " << entry.message_id << "\n";
      before = entry.id;
    }
}

std::optional<Subject> subject_of(const std::string& line) {
  for (const auto& [name, subject] : kParts)
    if (line == std::string{"@FINDINGS:"} + name + "@") return subject;
  return std::nullopt;
}

}  // namespace

}  // namespace pvrdma

int main(int argc, char** argv) {
  const std::string form = argc == 2 ? argv[1] : "";
  if (form == "ids") {
    pvrdma::write_ids();
    return std::cout.flush() ? 0 : 1;
  }
  if (form != "man" && form != "journal") {
    std::cerr << "usage: catalogue-pages man|journal < PAGE, or ids\n";
    return 2;
  }
  unsigned filled = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const auto subject = pvrdma::subject_of(line);
    if (form == "man" && subject) {
      ++filled;
      pvrdma::write_man(*subject);
    } else if (form == "journal" && line == "@FINDINGS@") {
      ++filled;
      pvrdma::write_journal();
    } else {
      std::cout << line << "\n";
    }
  }
  if (filled == 0) std::cerr << "catalogue-pages: the page has no line for findings\n";
  return filled > 0 && std::cout.flush() ? 0 : 1;
}
